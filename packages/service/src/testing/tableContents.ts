import { sql, type Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { serviceTables } from '../db/serviceRole/grants.js';

/** Every row of every table, as text. */
export async function tableContents(db: Kysely<Database>): Promise<Record<string, string[]>> {
  const contents: Record<string, string[]> = {};
  for (const table of serviceTables) {
    const { rows } = await sql<{ row: string }>`
      select each::text as row from ${sql.table(table)} as each order by each::text collate "C"`.execute(db);
    contents[table] = rows.map(({ row }) => row);
  }
  return contents;
}

/** Columns, constraints, indexes, triggers and functions: what keeps the rows right. */
export async function schemaRules(db: Kysely<Database>): Promise<string[]> {
  const { rows } = await sql<{ rule: string }>`
    select format('%s.%s %s %s %s', table_name, column_name, data_type, is_nullable, column_default) as rule
      from information_schema.columns where table_schema = current_schema()
    union all select format('%s: %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid, true))
      from pg_constraint where connamespace = current_schema()::regnamespace
    union all select format('%s %s', tgenabled, pg_get_triggerdef(oid)) from pg_trigger where not tgisinternal
    union all select indexdef from pg_indexes where schemaname = current_schema()
    union all select pg_get_functiondef(oid) from pg_proc where pronamespace = current_schema()::regnamespace
    order by 1`.execute(db);
  return rows.map(({ rule }) => rule);
}
