import { createHash } from 'node:crypto';
import { sql, type Kysely, type Transaction } from 'kysely';
import type { Database } from '../db/schema.js';
import { nameOfPart, type BackupManifest } from './format.js';
import { tarFile } from './tar.js';

const rowsPerFetch = 200;
/** Rows are gathered up to this size, since a file of the archive needs its size before its content. */
const partBytes = 2 ** 20;

/** With these settings, values as text read the same everywhere. */
const textSettings = ['datestyle = iso', "timezone = 'UTC'", 'bytea_output = hex', 'extra_float_digits = 1'] as const;

export async function setTextFormat(run: (statement: string) => Promise<unknown>): Promise<void> {
  for (const setting of textSettings) await run(`set local ${setting}`);
}

/** The named tables that exist. An older schema has fewer. */
export async function existingTables(db: Kysely<Database>, names: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from unnest(${names}::text[]) with ordinality as named (name, position)
    where to_regclass(quote_ident(name)) is not null order by position`.execute(db);
  return rows.map(({ name }) => name);
}

/** The columns of each table, without generated ones. */
export async function readColumns(
  trx: Transaction<Database>,
  tables: readonly string[],
): Promise<Record<string, string[]>> {
  const columns: Record<string, string[]> = {};
  for (const table of tables) {
    const { rows } = await sql<{ column: string }>`
      select attname as "column" from pg_attribute
      where attrelid = to_regclass(quote_ident(${table})) and attnum > 0 and not attisdropped and attgenerated = ''
      order by attnum`.execute(trx);
    columns[table] = rows.map(({ column }) => column);
  }
  return columns;
}

export async function countRows(trx: Transaction<Database>, tables: readonly string[]): Promise<number> {
  let total = 0;
  for (const table of tables) {
    const { rows } = await sql<{ rows: number }>`select count(*) as rows from ${sql.table(table)}`.execute(trx);
    total += rows[0]?.rows ?? 0;
  }
  return total;
}

/** Writes a table as files of the archive, and returns what the manifest says about it. */
export async function* readTable(
  trx: Transaction<Database>,
  table: string,
  columns: readonly string[],
  onRows: (rows: number) => void,
): AsyncGenerator<Uint8Array, BackupManifest['tables'][string]> {
  const values = sql.join(columns.map((column) => sql`${sql.ref(column)}::text`));
  const select = sql`select json_build_array(${values})::text as line from ${sql.table(table)}`;
  await sql`declare backup_rows no scroll cursor for ${select}`.execute(trx);
  const hash = createHash('sha256');
  let [rows, part] = [0, 0];
  let lines: Buffer[] = [];
  const write = async function* (): AsyncGenerator<Uint8Array> {
    if (lines.length === 0) return;
    const content = Buffer.concat(lines);
    lines = [];
    part += 1;
    hash.update(content);
    yield* tarFile(nameOfPart(table, part), content.byteLength, [content]);
  };
  for (let gatheredBytes = 0; ;) {
    const fetched = await sql<{ line: string }>`fetch ${sql.lit(rowsPerFetch)} from backup_rows`.execute(trx);
    for (const { line } of fetched.rows) {
      const bytes = Buffer.from(`${line}\n`);
      lines.push(bytes);
      gatheredBytes += bytes.byteLength;
    }
    rows += fetched.rows.length;
    onRows(fetched.rows.length);
    const ended = fetched.rows.length < rowsPerFetch;
    if (ended || gatheredBytes >= partBytes) {
      yield* write();
      gatheredBytes = 0;
    }
    if (ended) break;
  }
  await sql`close backup_rows`.execute(trx);
  return { rows, sha256: hash.digest('hex') };
}
