import { currentPriceCard, storageChargeMicrousd } from '@engraft/contract';
import { sql, type Kysely, type Transaction } from 'kysely';
import type { Database } from '../db/schema.js';
import { inTransaction } from '../db/transaction.js';
import { accountId, lockBalance } from '../ledger/accounts.js';
import { eachApart } from './eachApart.js';

const day_seconds = 86_400;
/** A deadline this near is moved on, so that a version in use never passes it between two rounds. */
const ahead_hours = 1;

/**
 * "After [the first 24 hours] each retained version is charged a day in advance and its `expires_at` moves on by that
 * day, while the project's `version_retention_days` (an active version renews beyond it) and the balance allow;
 * otherwise it expires at `expires_at`." A deadline that passed while no worker ran is made good: charged are the whole
 * days until it lies ahead again, all of them or none. While jobs hold the money for the first day past the deadline, it is
 * left undecided for that day: most of a reservation comes back. Returns how many versions were renewed. Several workers may
 * do this at once. A version that cannot be renewed is thrown at the end, after all the others had their turn.
 */
export async function renewHosting(db: Kysely<Database>, stopping?: AbortSignal): Promise<number> {
  const due = await dueVersions(db).execute();
  const version_ids = due.map(({ id }) => id);
  return eachApart(version_ids, (id) => inTransaction(db, (trx) => renewOrEnd(trx, id)), stopping);
}

function dueVersions(db: Kysely<Database>) {
  return db
    .selectFrom('versions')
    .select('versions.id')
    .where('versions.retention_ended_at', 'is', null)
    .where('versions.expires_at', '<=', sql<Date>`now() + ${ahead_hours} * interval '1 hour'`)
    .orderBy('versions.expires_at');
}

/**
 * Moves on the deadline of a version that is due; one that is past it and cannot be paid for ends. Whether it was renewed. For one that becomes
 * active, too, whose deadline may lie before the next round, and for one that is asked for. A version that somebody else has a lock on is
 * left to them, or waited for.
 */
export async function renewOrEnd(
  trx: Transaction<Database>,
  version_id: string,
  { wait = false }: { readonly wait?: boolean } = {},
): Promise<boolean> {
  const others = wait ? sql`` : sql`skip locked`;
  // Looked at again under its lock: another worker may have renewed it meanwhile, or an operator ended it.
  const version = await dueVersions(trx)
    .innerJoin('subjects', 'subjects.id', 'versions.subject_ref')
    .innerJoin('projects', 'projects.id', 'subjects.project_id')
    .select(['versions.size_bytes', 'subjects.project_id'])
    .select([
      sql<boolean>`versions.expires_at <= now()`.as('expired'),
      days_to_pay.as('days'),
      // The last of these days must begin within the project's retention.
      sql<boolean>`subjects.active_version_id is not distinct from versions.id
        or versions.expires_at + (${days_to_pay} - 1) * interval '24 hours'
          < versions.created_at + projects.version_retention_days * interval '24 hours'`.as('retained'),
    ])
    .where('versions.id', '=', version_id)
    .modifyEnd(sql`for no key update of versions, subjects ${others}`)
    .executeTakeFirst();
  if (version === undefined) return false;
  const { project_id, size_bytes, days, expired, retained } = version;
  const day_microusd = storageChargeMicrousd(size_bytes, day_seconds, currentPriceCard);
  const payment = retained ? await payDays(trx, { project_id, version_id, days, day_microusd }) : 'unaffordable';
  if (payment === 'paid') {
    await trx
      .updateTable('versions')
      .set({ expires_at: sql<Date>`expires_at + ${days} * interval '24 hours'` })
      .where('id', '=', version_id)
      .execute();
    return true;
  }
  const may_still_be_paid = payment === 'reserved_for_jobs' && days === 1;
  if (expired && !may_still_be_paid) await endRetention(trx, version_id);
  return false;
}

/** Whole days after which the deadline lies ahead; at least one. */
const days_to_pay = sql<number>`(1 + greatest(0, floor(extract(epoch from now() - versions.expires_at) / 86400)))::float8`;

interface HostingDays {
  readonly project_id: string;
  readonly version_id: string;
  readonly days: number;
  readonly day_microusd: number;
}

/** `reserved_for_jobs`: the balance would allow it if the jobs that hold money of it were charged nothing. */
type HostingPayment = 'paid' | 'reserved_for_jobs' | 'unaffordable';

/** Charges each day by a transfer of its own, all of them or none. */
async function payDays(
  trx: Transaction<Database>,
  { project_id, version_id, days, day_microusd }: HostingDays,
): Promise<HostingPayment> {
  const { available_microusd, reserved_microusd } = await lockBalance(trx, project_id);
  const cost_microusd = days * day_microusd;
  if (available_microusd + reserved_microusd < cost_microusd) return 'unaffordable';
  if (available_microusd < cost_microusd) return 'reserved_for_jobs';
  const day = {
    kind: 'hosting' as const,
    from_account: accountId('available', project_id),
    to_account: accountId('spent', project_id),
    amount_microusd: day_microusd,
    version_id,
  };
  await trx
    .insertInto('transfers')
    .values(Array.from({ length: days }, () => day))
    .execute();
  return 'paid';
}

/** It has expired: credit that comes later does not pay for days on which it could not be used. */
async function endRetention(trx: Transaction<Database>, version_id: string): Promise<void> {
  await trx
    .updateTable('versions')
    .set({ retention_ended_at: sql<Date>`now()` })
    .where('id', '=', version_id)
    .execute();
}
