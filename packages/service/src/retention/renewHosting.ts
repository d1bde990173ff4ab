import { currentPriceCard, storageChargeMicrousd } from '@engraft/contract';
import { sql, type Kysely, type Transaction } from 'kysely';
import type { Database } from '../db/schema.js';
import { inTransaction } from '../db/transaction.js';
import { accountId, lockBalance } from '../ledger/accounts.js';
import { of_another_model } from '../versions/baseModel.js';
import { untilNoneBegins } from './eachApart.js';

const day_seconds = 86_400;
/** A deadline this near is moved on, so that a version in use never passes it between two rounds. */
const ahead_hours = 1;
/**
 * Whether the service was stopped for long or the clock jumped cannot be known: so many of the days that passed are
 * charged at once.
 */
const missed_days_charged_max = 7;

/**
 * "After [the first 24 hours] each retained version is charged a day in advance and its `expires_at` moves on by that
 * day, while the project's `version_retention_days` (an active version renews beyond it) and the balance allow;
 * otherwise it expires at `expires_at`." A deadline that passed while no worker ran is made good by the whole days
 * until it lies ahead again: the first seven are charged, all of them or none, and the others waived. They are those
 * that come next when the clock was wrong and is set right: a day that was paid already is not charged again. While
 * jobs hold the money for the first day past the deadline, it is left undecided for that day: most of a reservation
 * comes back. Returns how many versions were renewed. Several workers share the work: each takes the next version that
 * nobody else is at. One that cannot be renewed is thrown at the end, after all the others had their turn.
 */
export async function renewHosting(db: Kysely<Database>, stopping?: AbortSignal): Promise<number> {
  let last: DueVersion | null = null;
  const had_their_turn = new Set<string>();
  const renewNext = async (begin: (version_id: string) => void): Promise<boolean> => {
    // A transaction that met a conflict is run again, and must come to the same version.
    const attempt: { passed: DueVersion | null; begun: string | null } = { passed: last, begun: null };
    try {
      return await inTransaction(db, 'hosting.renewed', async (trx) => {
        attempt.passed = last;
        attempt.begun = null;
        for (;;) {
          const due = await nextDue(trx, attempt.passed);
          if (due === null) return false;
          attempt.passed = due;
          // A new deadline may be near, too; it is moved on in the next round.
          if (had_their_turn.has(due.id)) continue;
          attempt.begun = due.id;
          return renewOrEnd(trx, due.id);
        }
      });
    } finally {
      // One that cannot be renewed has had its turn, too: otherwise the round would not end.
      last = attempt.passed;
      if (attempt.begun !== null) {
        had_their_turn.add(attempt.begun);
        begin(attempt.begun);
      }
    }
  };
  return untilNoneBegins(renewNext, stopping);
}

interface DueVersion {
  readonly id: string;
  /** With microseconds, which a `Date` has not. */
  readonly deadline: string;
}

/** The first one after `last` that nobody has a lock on. */
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
    .where('versions.expires_at', '<=', sql<Date>`now() + ${ahead_hours} * interval '1 hour'`)
    .orderBy('versions.expires_at');
}

/**
 * Moves on the deadline of a version that is due; one that is past it and cannot be paid for ends. Whether it was
 * renewed. For one that becomes active, too, whose deadline may lie before the next round, and for one that is asked
 * for. A version that somebody else has a lock on is left to them, or waited for.
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
      of_another_model.as('of_another_model'),
      days_to_host.as('days'),
      sql<number>`floor(extract(epoch from versions.expires_at - versions.created_at) / 86400)::float8`.as('first_day'),
      // A damaged version is not charged for; of any other, the last of these days must begin within the project's
      // retention, unless it is active.
      sql<boolean>`versions.damaged_at is null and (subjects.active_version_id is not distinct from versions.id
        or versions.expires_at + (${days_to_host} - 1) * interval '24 hours'
          < versions.created_at + projects.version_retention_days * interval '24 hours')`.as('retained'),
    ])
    .where('versions.id', '=', version_id)
    .modifyEnd(sql`for no key update of versions, subjects ${others}`)
    .executeTakeFirst();
  if (version === undefined) return false;
  const { project_id, size_bytes, days, first_day, expired, retained, of_another_model: unusable } = version;
  const day_microusd = storageChargeMicrousd(size_bytes, day_seconds, currentPriceCard);
  // A version that nobody can use costs nothing, and is kept in case its checkpoint comes back.
  const days_charged = unusable ? [] : daysToCharge(first_day, days);
  const charged = { project_id, version_id, days: days_charged, day_microusd };
  const payment = retained ? await payDays(trx, charged) : 'unaffordable';
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
const days_to_host = sql<number>`(
  1 + greatest(0, floor(extract(epoch from now() - versions.expires_at) / 86400)))::float8`;

/**
 * Days of hosting by their number since the version's creation. The first, 0, is paid by its job; a wrong clock may
 * come to earlier ones.
 */
function daysToCharge(first_day: number, days: number): readonly number[] {
  const missed = Array.from({ length: Math.min(days, missed_days_charged_max) }, (_, index) => first_day + index);
  return missed.filter((day) => day > 0);
}

interface HostingDays {
  readonly project_id: string;
  readonly version_id: string;
  readonly days: readonly number[];
  readonly day_microusd: number;
}

/** `reserved_for_jobs`: the balance would allow it if the jobs that hold money of it were charged nothing. */
type HostingPayment = 'paid' | 'reserved_for_jobs' | 'unaffordable';

/** Charges each day by a transfer of its own, all of them or none, but for those that are paid already. */
async function payDays(
  trx: Transaction<Database>,
  { project_id, version_id, days, day_microusd }: HostingDays,
): Promise<HostingPayment> {
  const paid = await paidDays(trx, version_id, days);
  const unpaid = days.filter((day) => !paid.has(day));
  if (unpaid.length === 0) return 'paid';
  const { available_microusd, reserved_microusd } = await lockBalance(trx, project_id);
  const cost_microusd = unpaid.length * day_microusd;
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
    .values(unpaid.map((hosting_day) => ({ ...day, hosting_day })))
    .execute();
  return 'paid';
}

async function paidDays(
  trx: Transaction<Database>,
  version_id: string,
  days: readonly number[],
): Promise<ReadonlySet<number | null>> {
  if (days.length === 0) return new Set();
  const rows = await trx
    .selectFrom('transfers')
    .select('hosting_day')
    .where('version_id', '=', version_id)
    .where('hosting_day', 'in', days)
    .execute();
  return new Set(rows.map(({ hosting_day }) => hosting_day));
}

/**
 * It has expired: credit that comes later does not pay for days on which it could not be used. Only when the clock
 * turns out to have been ahead is this taken back; see `correctDeadlines`.
 */
async function endRetention(trx: Transaction<Database>, version_id: string): Promise<void> {
  await trx
    .updateTable('versions')
    .set({ retention_ended_at: sql<Date>`now()`, retention_ended_by: 'retention' })
    .where('id', '=', version_id)
    .execute();
}
