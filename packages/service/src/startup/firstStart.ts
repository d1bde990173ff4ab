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
const starterCreditMicrousd = 100_000_000;
const reason = 'first start';
const operator = thisOperator({ reason });

/**
 * "First start on an empty data folder: the project `default` with 100 USD of starter credit and one key with all
 * scopes, kept in the data folder (file mode 0600)." The next start completes one that was interrupted. Of several
 * processes that start at once, one does it, and the others wait.
 * @returns whether this was the first start
 */
export async function prepareFirstStart(db: Kysely<Database>, dataFolder: string): Promise<boolean> {
  return db.connection().execute(async (held) => {
    await sql`select pg_advisory_lock(${advisoryLocks.firstStart})`.execute(held);
    try {
      return await makeDefaultProject(db, dataFolder);
    } finally {
      await sql`select pg_advisory_unlock(${advisoryLocks.firstStart})`.execute(held);
    }
  });
}

async function makeDefaultProject(db: Kysely<Database>, dataFolder: string): Promise<boolean> {
  const project = await claimDefaultProject(db);
  if (project === null) return false;
  const projectId = project.id;
  const { available_microusd } = await readBalance(db, projectId);
  if (available_microusd === 0) {
    const starter = { project_id: projectId, amount_microusd: starterCreditMicrousd, memo: 'starter credit' };
    const granted = await audited(
      db,
      operator,
      (trx) => grantCredit(trx, starter),
      () => ({
        action: 'credit.grant',
        project_id: projectId,
        target: projectId,
        details: { amount_microusd: starterCreditMicrousd },
      }),
    );
    if (granted.kind !== 'granted') throw new Error('the starter credit could not be granted');
  }
  // Comes first, since a key whose secret nobody has could not be repaired. An existing one may be all that is left of
  // a key of another database, which this folder was used with: it stays, and opens this database, too.
  const kept = await readDefaultKey(dataFolder);
  const secret = kept ?? newKeySecret();
  if (kept === null) await writeDefaultKey(dataFolder, secret);
  const key = { project_id: projectId, name: 'default', scopes, tenant_id: null, expires_at: null };
  const created = await audited(
    db,
    operator,
    (trx) => createKey(trx, key, secret),
    (made) => {
      const { name, tenant_id, expires_at } = key;
      const details = { name, scopes, tenant_id, expires_at };
      return made.kind === 'created'
        ? { action: 'key.create', project_id: projectId, target: made.key.id, details }
        : null;
    },
  );
  if (created.kind !== 'created') throw new Error(`the first key could not be made: ${created.kind}`);
  return true;
}

/** `null` if this is not the first start. */
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
  const isInterrupted = (await madeByFirstStart(db, first.id)) && (await listKeys(db, first.id)).length === 0;
  return isInterrupted ? first : null;
}

/** An operator may have made a project of the same name, who wants neither its key nor its credit. */
async function madeByFirstStart(db: Kysely<Database>, projectId: string): Promise<boolean> {
  const event = await db
    .selectFrom('audit_events')
    .select('id')
    .where('action', '=', 'project.create')
    .where('target', '=', projectId)
    .where('reason', '=', reason)
    .executeTakeFirst();
  return event !== undefined;
}
