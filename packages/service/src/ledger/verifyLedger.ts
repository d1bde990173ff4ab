import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Database } from '../db/schema.js';
import { slicedChecks, wholeChecks, type Difference, type SlicedChecks } from './ledgerChecks.js';

export interface LedgerReport {
  readonly ok: boolean;
  readonly projects: number;
  readonly transfers: number;
  /** One sentence each. Empty when `ok`. */
  readonly differences: readonly string[];
}

/** Enough to see what is wrong. A broken ledger may differ everywhere. */
const maxDifferencesPerCheck = 100;

/**
 * Recomputes every balance and invariant from the entries: "The sum over all accounts is zero at every moment, and no
 * project's available balance is ever negative." It runs beside the service, in slices. Each statement compares rows of
 * one moment with each other, and the database need not remember that moment for the others.
 */
export async function verifyLedger(db: Kysely<Database>): Promise<LedgerReport> {
  const differences: string[] = [];
  for (const check of wholeChecks) differences.push(...(await differencesOf(db, check)));
  const rows = new Map<SlicedChecks['table'], number>();
  for (const sliced of slicedChecks) {
    const found = await verifySlices(db, sliced);
    rows.set(sliced.table, found.rows);
    differences.push(...found.differences);
  }
  const [projects, transfers] = [rows.get('projects') ?? 0, rows.get('transfers') ?? 0];
  return { ok: differences.length === 0, projects, transfers, differences };
}

async function verifySlices(
  db: Kysely<Database>,
  sliced: SlicedChecks,
): Promise<{ readonly rows: number; readonly differences: readonly string[] }> {
  const differences: string[][] = [];
  let rows = 0;
  for (let slice = await nextSlice(db, sliced, null); slice !== null; slice = await nextSlice(db, sliced, slice)) {
    rows += slice.rows;
    const inSlice = sql<boolean>`${sql.ref(sliced.key)} between ${slice.first} and ${slice.last}`;
    for (const [index, check] of sliced.checks(inSlice).entries()) {
      const found = (differences[index] ??= []);
      const more = maxDifferencesPerCheck - found.length;
      if (more > 0) found.push(...(await differencesOf(db, check, more)));
    }
  }
  return { rows, differences: differences.flat() };
}

interface Slice {
  readonly rows: number;
  readonly first: string | number;
  readonly last: string | number;
}

/**
 * The rows after those of the slice before. Rows that are added meanwhile may be missed, and are looked at by the next
 * run: ids of projects and accounts are in no order of time, and a number is drawn before its row commits.
 */
async function nextSlice(
  db: Kysely<Database>,
  { table, key, sliceRows }: SlicedChecks,
  before: Slice | null,
): Promise<Slice | null> {
  const column = sql.ref(key);
  const after = before === null ? sql`true` : sql`${column} > ${before.last}`;
  const { rows } = await sql<Slice>`
    select count(*)::int as rows, min(${column}) as first, max(${column}) as last from (
      select ${column} from ${sql.table(table)} where ${after} order by ${column} limit ${sliceRows}
    ) as slice`.execute(db);
  const [slice] = rows;
  return slice === undefined || slice.rows === 0 ? null : slice;
}

async function differencesOf(
  db: Kysely<Database>,
  check: RawBuilder<Difference>,
  limit = maxDifferencesPerCheck,
): Promise<string[]> {
  const { rows } = await sql<Difference>`${check} limit ${limit}`.execute(db);
  return rows.map(({ difference }) => difference);
}
