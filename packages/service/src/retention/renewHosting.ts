import { currentPriceCard, storageChargeMicrousd } from '@engraft/contract';
import { sql, type Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { inTransaction } from '../db/transaction.js';
import { accountId, lockBalance } from '../ledger/accounts.js';

const day_seconds = 86_400;
/** A deadline this near is moved on, so that a version in use never passes it between two rounds. */
const ahead_hours = 1;
const versions_per_round = 200;

/**
 * "After [the first 24 hours] each retained version is charged a day in advance and its `expires_at` moves on by that
 * day, while the project's `version_retention_days` (an active version renews beyond it) and the balance allow;
 * otherwise it expires at `expires_at`." Returns how many were renewed. Several workers may do this at once.
 */
export async function renewHosting(db: Kysely<Database>): Promise<number> {
  const due = await dueVersions(db).limit(versions_per_round).execute();
  let renewed = 0;
  for (const { id } of due) if (await renew(db, id)) renewed += 1;
  return renewed;
}

function dueVersions(db: Kysely<Database>) {
  return db
    .selectFrom('versions')
    .innerJoin('subjects', 'subjects.id', 'versions.subject_ref')
    .innerJoin('projects', 'projects.id', 'subjects.project_id')
    .select(['versions.id', 'versions.size_bytes', 'subjects.project_id'])
    .where('versions.expires_at', '>', sql<Date>`now()`)
    .where('versions.expires_at', '<=', sql<Date>`now() + ${ahead_hours} * interval '1 hour'`)
    .where((eb) =>
      eb.or([
        eb('subjects.active_version_id', '=', eb.ref('versions.id')),
        eb(
          'versions.expires_at',
          '<',
          sql<Date>`versions.created_at + projects.version_retention_days * interval '1 day'`,
        ),
      ]),
    )
    .orderBy('versions.expires_at');
}

async function renew(db: Kysely<Database>, version_id: string): Promise<boolean> {
  return inTransaction<boolean>(db, async (trx) => {
    // Looked at again under its lock: another worker may have renewed it meanwhile.
    const version = await dueVersions(trx)
      .where('versions.id', '=', version_id)
      .modifyEnd(sql`for update of versions skip locked`)
      .executeTakeFirst();
    if (version === undefined) return false;
    const { project_id, size_bytes } = version;
    const amount_microusd = storageChargeMicrousd(size_bytes, day_seconds, currentPriceCard);
    const { available_microusd } = await lockBalance(trx, project_id);
    if (available_microusd < amount_microusd) return false;
    await trx
      .insertInto('transfers')
      .values({
        kind: 'hosting',
        from_account: accountId('available', project_id),
        to_account: accountId('spent', project_id),
        amount_microusd,
        version_id,
      })
      .execute();
    await trx
      .updateTable('versions')
      .set({ expires_at: sql<Date>`expires_at + interval '1 day'` })
      .where('id', '=', version_id)
      .execute();
    return true;
  });
}
