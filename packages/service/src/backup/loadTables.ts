import type pg from 'pg';
import { BackupError } from './backupError.js';
import type { BackupHeader, Row } from './format.js';

/**
 * Prepares the tables of a newly migrated database to take rows as they are. It removes what a migration put there. It
 * sets aside triggers, which would move balances again, and constraints that rows may break while others are missing,
 * or have always broken.
 * `done` brings them back, checks the foreign keys, and lets identities continue after the largest number. Everything
 * happens in the caller's transaction and needs only the owner's rights.
 */
export async function openForLoading(client: pg.Client, header: BackupHeader): Promise<TableLoader> {
  const tables = Object.keys(header.tables);
  const columns = await readColumnTypes(client, tables);
  for (const [table, wanted] of Object.entries(header.tables)) {
    const there = columns.get(table);
    if (there?.size !== wanted.length || !wanted.every((column) => there.has(column))) {
      throw new BackupError(`the backup is damaged: its table ${table} is not as its schema has it`);
    }
  }
  const constraints = await findConstraints(client, tables);
  for (const table of tables) await client.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
  for (const { table, name } of constraints) await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
  await client.query(`TRUNCATE ${tables.join(', ')}`);
  return {
    load: async (table, rows) => {
      const wanted = header.tables[table];
      if (wanted === undefined) throw new BackupError(`the backup is damaged: its header does not name table ${table}`);
      const types = wanted.map((column) => columns.get(table)?.get(column) ?? 'text');
      await client.query(insertion(table, wanted, types), transpose(rows, wanted.length));
    },
    done: async () => {
      for (const { table, name, definition } of constraints) {
        await client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`);
      }
      for (const table of tables) await client.query(`ALTER TABLE ${table} ENABLE TRIGGER USER`);
      await continueIdentities(client, tables);
    },
  };
}

export interface TableLoader {
  load(table: string, rows: readonly Row[]): Promise<void>;
  done(): Promise<void>;
}

/** From here on, names of tables and columns are those of the catalogue. */
async function readColumnTypes(
  client: pg.Client,
  tables: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const { rows } = await client.query<{ table: string; column: string; type: string }>(
    `SELECT relname AS "table", attname AS "column", format_type(atttypid, atttypmod) AS type
     FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
     WHERE relnamespace = current_schema()::regnamespace AND relname = ANY($1::text[]) AND relkind = 'r'
       AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`,
    [tables],
  );
  const types = new Map<string, Map<string, string>>();
  for (const { table, column, type } of rows) {
    types.set(table, (types.get(table) ?? new Map<string, string>()).set(column, type));
  }
  return types;
}

interface Constraint {
  readonly table: string;
  readonly name: string;
  /** A foreign key is checked when it comes back, unless it never was. */
  readonly definition: string;
}

/** Foreign keys, and rules that were added to rows which may already have broken them. */
async function findConstraints(client: pg.Client, tables: readonly string[]): Promise<Constraint[]> {
  const { rows } = await client.query<Constraint>(
    `SELECT quote_ident(relname) AS "table", quote_ident(conname) AS name,
       pg_get_constraintdef(pg_constraint.oid) AS definition
     FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid
     WHERE connamespace = current_schema()::regnamespace AND relname = ANY($1::text[])
       AND (contype = 'f' OR contype = 'c' AND NOT convalidated)
     ORDER BY pg_constraint.oid`,
    [tables],
  );
  return rows;
}

function insertion(table: string, columns: readonly string[], types: readonly string[]): string {
  const parameters = columns.map((_, index) => `$${index + 1}::text[]`);
  const values = types.map((type, index) => `c${index}::${type}`);
  const names = columns.map((_, index) => `c${index}`);
  return `INSERT INTO ${table} (${columns.join(', ')}) OVERRIDING SYSTEM VALUE
    SELECT ${values.join(', ')} FROM unnest(${parameters.join(', ')}) AS loaded (${names.join(', ')})`;
}

function transpose(rows: readonly Row[], width: number): (string | null)[][] {
  for (const row of rows) {
    if (row.length !== width) throw new BackupError('the backup is damaged: a row has not the columns of its table');
  }
  return Array.from({ length: width }, (_, column) => rows.map((row) => row[column] ?? null));
}

async function continueIdentities(client: pg.Client, tables: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ table: string; column: string }>(
    `SELECT relname AS "table", attname AS "column" FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
     WHERE relnamespace = current_schema()::regnamespace AND relname = ANY($1::text[]) AND attidentity <> ''`,
    [tables],
  );
  for (const { table, column } of rows) {
    await client.query(
      `SELECT setval(pg_get_serial_sequence('${table}', '${column}'), coalesce(max(${column}), 1), count(*) > 0)
       FROM ${table}`,
    );
  }
}
