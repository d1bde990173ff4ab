/** Two projects with money, and transfers that the owner of the tables writes. Each test file opens its own. */
import { sql, type Kysely } from 'kysely';
import type { TransferKind } from '../db/ledgerTables.js';
import type { Database } from '../db/schema.js';
import { inTransaction, RolledBack } from '../db/transaction.js';
import { createTestKey, createTestProject, type TestKey } from './testApp.js';
import { openTestDatabase, type TestDatabase } from './testDatabase.js';
import { admitTestLearning, createTestVersion, type TestVersion } from './testVersion.js';

/** A project of these tests: 97 USD available, 2 USD reserved by two jobs, 1 USD spent on a version. */
export interface Party {
  readonly key: TestKey;
  readonly version: TestVersion;
  /** Queued, with a reservation each. */
  readonly jobs: readonly [string, string];
}

export const reservedMicrousd = 1_000_000;

export let database: TestDatabase;
/** The owner of the tables: what it cannot write nobody can. */
export let owner: Kysely<Database>;
export let ours: Party;
export let theirs: Party;

export async function makeParty(): Promise<Party> {
  const key = await createTestKey(owner, await createTestProject(owner));
  const version = await createTestVersion(owner, key);
  return { key, version, jobs: [await admitTestLearning(owner, key), await admitTestLearning(owner, key)] };
}

export async function open(): Promise<void> {
  database = await openTestDatabase();
  owner = database.owner;
  [ours, theirs] = [await makeParty(), await makeParty()];
}
export function close(): Promise<void> {
  return database.close();
}

export interface TransferRow {
  readonly kind: TransferKind;
  readonly from_account: string;
  readonly to_account: string;
  readonly amount_microusd: number;
  readonly job_id: string | null;
  readonly version_id: string | null;
  readonly hosting_day: number | null;
}

/**
 * Runs the statements as one transaction, and commits it unless told not to. Returns the rule that the database refuses
 * it by.
 */
export async function refusalOf(
  work: (trx: Kysely<Database>) => Promise<unknown>,
  { keep = false } = {},
): Promise<string | null> {
  return inTransaction<string | null>(owner, null, async (trx) => {
    await work(trx);
    // As the commit would.
    await sql`set constraints all immediate`.execute(trx);
    return keep ? null : new RolledBack(null);
  }).catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
}

export const insertTransfer = (row: Partial<TransferRow>) => (trx: Kysely<Database>) =>
  trx
    .insertInto('transfers')
    .values({ kind: 'grant', from_account: 'issued', to_account: 'issued', amount_microusd: 1, ...row })
    .execute();

export const account = (kind: 'available' | 'reserved' | 'spent', { key }: Party): string =>
  `${kind}:${key.project_id}`;

/** A day of hosting, of 7 micro-USD. */
export function hostingOf(party: Party, hostingDay: number): Partial<TransferRow> {
  return {
    kind: 'hosting',
    from_account: account('available', party),
    to_account: account('spent', party),
    amount_microusd: 7,
    version_id: party.version.id,
    hosting_day: hostingDay,
  };
}
