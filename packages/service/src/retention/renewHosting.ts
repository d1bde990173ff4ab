import { currentPriceCard, storageChargeMicrousd } from '@engraft/contract';
import { sql, type Kysely, type Transaction } from 'kysely';
import type { Database } from '../db/schema.js';
import { inTransaction } from '../db/transaction.js';
import { accountId, lockBalance } from '../ledger/accounts.js';
import { ofAnotherModel } from '../versions/baseModel.js';
import { repeatIndependently } from './independently.js';

const daySeconds = 86_400;
/** A deadline this close is moved on, so that a version in use never passes it between two rounds. */
const aheadHours = 1;
/**
 * Whether the service was stopped for long or the clock jumped cannot be known, so at most this many missed days are
 * charged at once.
 */
const maxMissedDaysCharged = 7;

/**
 * "After [the first 24 hours] each retained version is charged a day in advance and its `expires_at` moves on by that
 * day, while the project's `version_retention_days` (an active version renews beyond it) and the balance allow;
 * otherwise it expires at `expires_at`."
 *
 * A deadline that passed while no worker ran moves on by whole days until it lies ahead again. The first seven days are
 * charged, all or none, and the others are waived. If a wrong clock was set right, they are the next days to come: a
 * day that was paid already is not charged again. While jobs hold the money for the first day past the deadline,
 * nothing is decided for that day, since most of a reservation comes back.
 *
 * Returns how many versions were renewed. Several workers share the work: each takes the next version that nobody else
 * holds. Versions that cannot be renewed are reported by an error at the end, after all the others.
 */
export async function renewHosting(db: Kysely<Database>, stopping?: AbortSignal): Promise<number> {
  let last: DueVersion | null = null;
  const hadTheirTurn = new Set<string>();
  const renewNext = async (begin: (versionId: string) => void): Promise<boolean> => {
    // A transaction that met a conflict is run again, and must find the same version.
    const attempt: { passed: DueVersion | null; begun: string | null } = { passed: last, begun: null };
    try {
      return await inTransaction(db, 'hosting.renewed', async (trx) => {
        attempt.passed = last;
        attempt.begun = null;
        for (;;) {
          const due = await nextDue(trx, attempt.passed);
          if (due === null) return false;
          attempt.passed = due;
          // A new deadline may also be close. The next round moves it on.
          if (hadTheirTurn.has(due.id)) continue;
          attempt.begun = due.id;
          return renewOrEnd(trx, due.id);
        }
      });
    } finally {
      // A version that cannot be renewed has had its turn, too. Otherwise the round would not end.
      last = attempt.passed;
      if (attempt.begun !== null) {
        hadTheirTurn.add(attempt.begun);
        begin(attempt.begun);
      }
    }
  };
  return repeatIndependently(renewNext, stopping);
}

interface DueVersion {
  readonly id: string;
  /** With microseconds, which a `Date` does not have. */
  readonly deadline: string;
}

/** The first one after `last` that nobody holds a lock on. */
async function nextDue(trx: Transaction<Database>, last: DueVersion | null): Promise<DueVersion | null> {
  const row = await dueVersions(trx)
    .select(sql<string>`versions.expires_at::text`.as('deadline'))
    .$if(last !== null, (query) =>
      query.where(sql<boolean>`(versions.expires_at, versions.id) > (${last?.deadline}::timestamptz, ${last?.id})`),
    )
    .orderBy('versions.id')
    .limit(1)
    .modifyEnd(sql`for no key update of versions skip locked`)
    .executeTakeFirst();
  return row ?? null;
}

function dueVersions(db: Kysely<Database>) {
  return db
    .selectFrom('versions')
    .select('versions.id')
    .where('versions.retention_ended_at', 'is', null)
    .where('versions.expires_at', '<=', sql<Date>`now() + ${aheadHours} * interval '1 hour'`)
    .orderBy('versions.expires_at');
}

/**
 * Moves on the deadline of a due version, or ends a version that is past it and cannot be paid for. Returns whether it
 * was renewed. It is also called for a version that becomes active, whose deadline may lie before the next round, and
 * for one that is asked for. A version locked by others is left to them, or waited for.
 */
export async function renewOrEnd(
  trx: Transaction<Database>,
  versionId: string,
  { wait = false }: { readonly wait?: boolean } = {},
): Promise<boolean> {
  const others = wait ? sql`` : sql`skip locked`;
  // Looks again under the lock, since another worker may have renewed it meanwhile, or an operator ended it.
  const version = await dueVersions(trx)
    .innerJoin('subjects', 'subjects.id', 'versions.subject_ref')
    .innerJoin('projects', 'projects.id', 'subjects.project_id')
    .select(['versions.size_bytes', 'subjects.project_id'])
    .select([
      sql<boolean>`versions.expires_at <= now()`.as('expired'),
      ofAnotherModel.as('of_another_model'),
      daysToHost.as('days'),
      sql<number>`floor(extract(epoch from versions.expires_at - versions.created_at) / 86400)::float8`.as('first_day'),
      // A damaged version is not charged. For any other, the last of these days must begin within the project's
      // retention, unless the version is active.
      sql<boolean>`versions.damaged_at is null and (subjects.active_version_id is not distinct from versions.id
        or versions.expires_at + (${daysToHost} - 1) * interval '24 hours'
          < versions.created_at + projects.version_retention_days * interval '24 hours')`.as('retained'),
    ])
    .where('versions.id', '=', versionId)
    .modifyEnd(sql`for no key update of versions, subjects ${others}`)
    .executeTakeFirst();
  if (version === undefined) return false;
  const { project_id, size_bytes, days, first_day, expired, retained, of_another_model: unusable } = version;
  const dayMicrousd = storageChargeMicrousd(size_bytes, daySeconds, currentPriceCard);
  // A version that nobody can use costs nothing, and is kept in case its checkpoint comes back.
  const daysCharged = unusable ? [] : daysToCharge(first_day, days);
  const charged = { project_id, version_id: versionId, days: daysCharged, day_microusd: dayMicrousd };
  const payment = retained ? await payDays(trx, charged) : 'unaffordable';
  if (payment === 'paid') {
    await trx
      .updateTable('versions')
      .set({ expires_at: sql<Date>`expires_at + ${days} * interval '24 hours'` })
      .where('id', '=', versionId)
      .execute();
    return true;
  }
  const mayStillBePaid = payment === 'reserved_for_jobs' && days === 1;
  if (expired && !mayStillBePaid) await endRetention(trx, versionId);
  return false;
}

/** Whole days until the deadline lies ahead again, at least one. */
const daysToHost = sql<number>`(
  1 + greatest(0, floor(extract(epoch from now() - versions.expires_at) / 86400)))::float8`;

/**
 * Days of hosting, by their number since the version's creation. The job pays the first, 0. A wrong clock may give
 * earlier ones.
 */
function daysToCharge(firstDay: number, days: number): readonly number[] {
  const missed = Array.from({ length: Math.min(days, maxMissedDaysCharged) }, (_, index) => firstDay + index);
  return missed.filter((day) => day > 0);
}

interface HostingDays {
  readonly project_id: string;
  readonly version_id: string;
  readonly days: readonly number[];
  readonly day_microusd: number;
}

/** `reserved_for_jobs` means that the balance would be enough if the jobs that hold part of it were charged nothing. */
type HostingPayment = 'paid' | 'reserved_for_jobs' | 'unaffordable';

/** Charges each day by a transfer of its own, all of them or none, except those that are paid already. */
async function payDays(
  trx: Transaction<Database>,
  { project_id, version_id, days, day_microusd }: HostingDays,
): Promise<HostingPayment> {
  const paid = await paidDays(trx, version_id, days);
  const unpaid = days.filter((day) => !paid.has(day));
  if (unpaid.length === 0) return 'paid';
  const { available_microusd, reserved_microusd } = await lockBalance(trx, project_id);
  const costMicrousd = unpaid.length * day_microusd;
  if (available_microusd + reserved_microusd < costMicrousd) return 'unaffordable';
  if (available_microusd < costMicrousd) return 'reserved_for_jobs';
  const day = {
    kind: 'hosting' as const,
    from_account: accountId('available', project_id),
    to_account: accountId('spent', project_id),
    amount_microusd: day_microusd,
    version_id,
  };
  await trx
    .insertInto('transfers')
    .values(unpaid.map((hostingDay) => ({ ...day, hosting_day: hostingDay })))
    .execute();
  return 'paid';
}

async function paidDays(
  trx: Transaction<Database>,
  versionId: string,
  days: readonly number[],
): Promise<ReadonlySet<number | null>> {
  if (days.length === 0) return new Set();
  const rows = await trx
    .selectFrom('transfers')
    .select('hosting_day')
    .where('version_id', '=', versionId)
    .where('hosting_day', 'in', days)
    .execute();
  return new Set(rows.map(({ hosting_day }) => hosting_day));
}

/**
 * Ends the version's retention. Credit that comes later does not pay for days on which it could not be used. This is
 * undone only if the clock turns out to have been ahead, see `correctDeadlines`.
 */
async function endRetention(trx: Transaction<Database>, versionId: string): Promise<void> {
  await trx
    .updateTable('versions')
    .set({ retention_ended_at: sql<Date>`now()`, retention_ended_by: 'retention' })
    .where('id', '=', versionId)
    .execute();
}
