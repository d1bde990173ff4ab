import type pg from 'pg';
import type { Database } from '../schema.js';

/** The role of the service. There is one for the whole server; each database grants its rights. */
export const serviceRole = 'engraft_service';

/**
 * The service's rights on each table: as many as its statements need. A new table must be added here. The trigger
 * on `transfers` moves balances, with its owner's rights. PostgreSQL asks for the right to update an account's id,
 * which another trigger refuses, from anybody who locks the row.
 */
const privileges: Readonly<Record<keyof Database | 'schema_migrations', readonly string[]>> = {
  schema_migrations: ['SELECT'],
  projects: ['SELECT', 'INSERT', 'UPDATE'],
  api_keys: ['SELECT', 'INSERT', 'UPDATE'],
  rate_limits: ['SELECT', 'INSERT', 'UPDATE'],
  subjects: ['SELECT', 'INSERT', 'UPDATE'],
  jobs: ['SELECT', 'INSERT', 'UPDATE'],
  project_turns: ['SELECT', 'INSERT', 'UPDATE'],
  open_jobs: ['SELECT'],
  open_jobs_of_service: ['SELECT'],
  job_phases: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  teacher_calls: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  idempotency_keys: ['SELECT', 'INSERT', 'DELETE'],
  versions: ['SELECT', 'INSERT', 'UPDATE'],
  kept_adapters: ['SELECT', 'INSERT', 'DELETE'],
  base_model: ['SELECT', 'INSERT', 'UPDATE'],
  accounts: ['SELECT', 'INSERT (id)', 'INSERT (kind)', 'INSERT (project_id)', 'UPDATE (id)'],
  transfers: ['SELECT', 'INSERT'],
  monthly_spending: ['SELECT'],
  archives: ['SELECT', 'INSERT (month)', 'INSERT (file)'],
  archived_sums: ['SELECT'],
  credit_purchases: ['SELECT', 'INSERT'],
  clock: ['SELECT', 'UPDATE'],
  members: ['SELECT', 'INSERT', 'UPDATE'],
  member_roles: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  console_links: ['SELECT', 'INSERT', 'DELETE'],
  console_sessions: ['SELECT', 'INSERT', 'DELETE'],
  // Without the number and the time, which nobody chooses.
  audit_events: [
    'SELECT',
    ...['action', 'actor', 'account', 'reason', 'project_id', 'target', 'details'].map(
      (column) => `INSERT (${column})`,
    ),
  ],
};

/** The functions that do with their owner's rights what the role may not do itself. Nobody else may run them. */
const functions: readonly string[] = ['archive_jobs'];

/**
 * All tables with the service's data, except for its adapters. The record of migrations says only how the data is kept.
 */
export const serviceTables: readonly string[] = Object.keys(privileges).filter(
  (table) => table !== 'schema_migrations',
);

/**
 * The statements that give the role what it lacks in `schema`, an SQL identifier. None if it lacks nothing. The role
 * must exist.
 */
export async function missingGrants(client: pg.Client, schema: string): Promise<string[]> {
  const { rows } = await client.query<{ table: string; privilege: string }>(
    `WITH role AS (SELECT oid FROM pg_roles WHERE rolname = $1),
      tables AS (SELECT oid, relname, relacl FROM pg_class WHERE relnamespace = $2::regnamespace)
    SELECT relname AS "table", privilege_type AS privilege
      FROM role, tables, aclexplode(relacl) WHERE grantee = role.oid
    UNION ALL
    SELECT relname, format('%s (%s)', privilege_type, attname)
      FROM role, tables JOIN pg_attribute ON attrelid = tables.oid, aclexplode(attacl) WHERE grantee = role.oid`,
    [serviceRole, schema],
  );
  const granted = new Set(rows.map(({ table, privilege }) => `${privilege} ON ${table}`));
  const { rows: schemas } = await client.query<{ usable: boolean }>(
    `SELECT has_schema_privilege($1, $2::regnamespace, 'USAGE') AS usable`,
    [serviceRole, schema],
  );
  return [
    ...(schemas[0]?.usable === true ? [] : [`GRANT USAGE ON SCHEMA ${schema} TO ${serviceRole}`]),
    ...(await missingFunctions(client, schema)).map((name) => `GRANT EXECUTE ON FUNCTION ${name} TO ${serviceRole}`),
    ...Object.entries(privileges).flatMap(([table, wanted]) => {
      const missing = wanted.filter((privilege) => !granted.has(`${privilege} ON ${table}`));
      return missing.length === 0 ? [] : [`GRANT ${missing.join(', ')} ON ${schema}.${table} TO ${serviceRole}`];
    }),
  ];
}

/** As SQL names them, with the types of what they are given. */
async function missingFunctions(client: pg.Client, schema: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT pg_proc.oid::regprocedure::text AS name FROM pg_proc, pg_roles
    WHERE rolname = $1 AND pronamespace = $2::regnamespace AND proname = ANY ($3::text[])
      AND NOT EXISTS (SELECT FROM aclexplode(proacl) WHERE grantee = pg_roles.oid AND privilege_type = 'EXECUTE')`,
    [serviceRole, schema, functions],
  );
  return rows.map(({ name }) => name);
}
