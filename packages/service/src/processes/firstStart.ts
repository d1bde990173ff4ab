import { scopes } from '@engraft/contract';
import { sql, type Kysely } from 'kysely';
import { audited } from '../audit/audited.js';
import { thisOperator } from '../audit/operator.js';
import { advisoryLocks } from '../db/advisoryLocks.js';
import type { Database } from '../db/schema.js';
import { createKey } from '../keys/createKey.js';
import { newKeySecret } from '../keys/keySecret.js';
import { listKeys } from '../keys/listKeys.js';
import { readBalance } from '../ledger/accounts.js';
import { grantCredit } from '../ledger/grantCredit.js';
import { createProject } from '../projects/createProject.js';
import { listProjects, type Project } from '../projects/projectQueries.js';
import { readDefaultKey, writeDefaultKey } from './defaultKey.js';

export const defaultProjectName = 'default';
const starter_credit_microusd = 100_000_000;
const operator = thisOperator({ reason: 'first start' });

/**
 * "First start on an empty data folder: the project `default` with 100 USD of starter credit and one key with all
 * scopes, kept in the data folder (file mode 0600)." A start that was cut short is made good by the next one. Of
 * several processes that start at once, one does it, and the others wait for it.
 * @returns whether this was the first start.
 */
export async function prepareFirstStart(db: Kysely<Database>, data_folder: string): Promise<boolean> {
  return db.connection().execute(async (held) => {
    await sql`select pg_advisory_lock(${advisoryLocks.firstStart})`.execute(held);
    try {
      return await makeDefaultProject(db, data_folder);
    } finally {
      await sql`select pg_advisory_unlock(${advisoryLocks.firstStart})`.execute(held);
    }
  });
}

async function makeDefaultProject(db: Kysely<Database>, data_folder: string): Promise<boolean> {
  const project = await claimDefaultProject(db);
  if (project === null) return false;
  const project_id = project.id;
  const { available_microusd } = await readBalance(db, project_id);
  if (available_microusd === 0) {
    const starter = { project_id, amount_microusd: starter_credit_microusd, memo: 'starter credit' };
    const granted = await audited(
      db,
      operator,
      (trx) => grantCredit(trx, starter),
      () => ({
        action: 'credit.grant',
        project_id,
        target: project_id,
        details: { amount_microusd: starter_credit_microusd },
      }),
    );
    if (granted.kind !== 'granted') throw new Error('the starter credit could not be granted');
  }
  // Written first: a key that nobody has the secret of could not be made good. One that is there already may be all
  // that is left of a key of another database, which this folder was used with: it stays, and opens this one, too.
  const kept = await readDefaultKey(data_folder);
  const secret = kept ?? newKeySecret();
  if (kept === null) await writeDefaultKey(data_folder, secret);
  const key = { project_id, name: 'default', scopes, tenant_id: null, expires_at: null };
  const created = await audited(
    db,
    operator,
    (trx) => createKey(trx, key, secret),
    (made) => {
      const { name, tenant_id, expires_at } = key;
      const details = { name, scopes, tenant_id, expires_at };
      return made.kind === 'created' ? { action: 'key.create', project_id, target: made.key.id, details } : null;
    },
  );
  if (created.kind !== 'created') throw new Error(`the first key could not be made: ${created.kind}`);
  return true;
}

/** `null` when this is not the first start. */
async function claimDefaultProject(db: Kysely<Database>): Promise<Project | null> {
  const [first, ...others] = await listProjects(db);
  if (first === undefined) {
    const created = await audited(
      db,
      operator,
      (trx) => createProject(trx, { name: defaultProjectName }),
      (made) => {
        if (made.kind !== 'created') return null;
        const { id, name } = made.project;
        return { action: 'project.create', project_id: id, target: id, details: { name } };
      },
    );
    return created.kind === 'created' ? created.project : null;
  }
  if (others.length > 0 || first.name !== defaultProjectName) return null;
  return (await listKeys(db, first.id)).length === 0 ? first : null;
}
