import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { selectLedgerEntries, type LedgerRow } from './projectCredits.js';

const pageSize = 2_000;

const columns = ['id', 'created_at', 'kind', 'amount_microusd', 'subject', 'job', 'version', 'memo'] as const;

/** All entries of a project's ledger as CSV (RFC 4180), newest first, in parts of which one is in memory at a time. */
export async function* ledgerCsv(db: Kysely<Database>, projectId: string): AsyncGenerator<string> {
  yield lineOf(columns);
  let before: number | null = null;
  do {
    const rows: readonly LedgerRow[] = await selectLedgerEntries(db, projectId, { before, limit: pageSize });
    yield rows.map((row) => lineOf(cellsOf(row))).join('');
    before = rows.length < pageSize ? null : (rows.at(-1)?.id ?? null);
  } while (before !== null);
}

function cellsOf(row: LedgerRow): string[] {
  const { id, created_at, kind, amount_microusd, subject_id, job_id, version_id, memo } = row;
  const texts = [subject_id, job_id, version_id, memo].map((text) => text ?? '');
  return [String(id), created_at.toISOString(), kind, String(amount_microusd), ...texts];
}

function lineOf(cells: readonly string[]): string {
  return `${cells.map(cellOf).join(',')}\r\n`;
}

/** A spreadsheet would compute a cell that begins like a formula. */
function cellOf(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
