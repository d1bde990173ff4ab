import { setTimeout as delay } from 'node:timers/promises';
import { sql, type Kysely, type Transaction } from 'kysely';
import { crashPoint, type CrashPoint } from '../crashPoints.js';
import { isTransactionConflict } from './databaseErrors.js';
import type { Database } from './schema.js';

const maxAttempts = 5;
const firstDelayMs = 5;

/** The outcome of a transaction that must leave no trace. */
export class RolledBack<Outcome> {
  constructor(readonly outcome: Outcome) {}
}

/** Carries a `RolledBack` outcome past Kysely, which rolls back when the work throws. */
class RollbackSignal<Outcome> extends Error {
  constructor(readonly outcome: Outcome) {
    super('rolled back on purpose');
  }
}

/** The effects of the parts of an open transaction become durable only when the whole has committed. */
const namesOf = new WeakMap<Transaction<Database>, CrashPoint[]>();

/**
 * Runs `work` in one READ COMMITTED transaction and returns its outcome. The transaction is committed, or rolled back
 * if the outcome is `RolledBack`. After a serialization failure or deadlock the whole work is repeated, up to five
 * times, so it must have no effect outside the transaction.
 * Within an open transaction it becomes part of that one, which must then end like its parts: `RolledBack` ends the
 * whole. `committed` names the boundary that the process has passed once everything has committed; `null` is for tests.
 */
export async function inTransaction<Outcome>(
  db: Kysely<Database>,
  committed: CrashPoint | null,
  work: (trx: Transaction<Database>) => Promise<Outcome | RolledBack<Outcome>>,
): Promise<Outcome> {
  if (isOpenTransaction(db)) {
    const outcome = await work(db);
    if (outcome instanceof RolledBack) throw new RollbackSignal<Outcome>(outcome.outcome);
    if (committed !== null) crashPointOnceCommitted(db, committed);
    return outcome;
  }
  for (let attempt = 1; ; attempt += 1) {
    const names: CrashPoint[] = [];
    try {
      const outcome = await db.transaction().execute(async (trx) => {
        namesOf.set(trx, names);
        const done = await work(trx);
        if (done instanceof RolledBack) throw new RollbackSignal<Outcome>(done.outcome);
        return done;
      });
      if (committed !== null) names.push(committed);
      for (const name of names) crashPoint(name);
      return outcome;
    } catch (error) {
      if (error instanceof RollbackSignal) return (error as RollbackSignal<Outcome>).outcome;
      if (!isTransactionConflict(error) || attempt === maxAttempts) throw error;
      // Random, so that two transactions in each other's way do not meet again.
      await delay(Math.random() * firstDelayMs * 2 ** attempt);
    }
  }
}

/** Passes a boundary for an effect of `db`: at once, or, if `db` is a transaction, as soon as that has committed. */
export function crashPointOnceCommitted(db: Kysely<Database>, name: CrashPoint): void {
  if (isOpenTransaction(db)) namesOf.get(db)?.push(name);
  else crashPoint(name);
}

function isOpenTransaction(db: Kysely<Database>): db is Transaction<Database> {
  return db.isTransaction;
}

/** Lets the transaction wait for other work longer than a process may otherwise take. */
export async function allowIdling(trx: Transaction<Database>): Promise<void> {
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx);
}
