import { createHmac } from 'node:crypto';
import pg from 'pg';
import { crashPoint } from '../../crashPoints.js';
import { insufficientPrivilege, isDatabaseError, isDatabaseUnavailable } from '../databaseErrors.js';
import { lockSchema } from '../migrate.js';
import { withSession } from '../session.js';
import { missingGrants, serviceRole } from './grants.js';
import { scramVerifier } from './scramVerifier.js';

/**
 * The service works as a role that owns nothing and may do with rows only what its statements need. What comes through
 * its connections, by mistake or by design, cannot lift the rules of the schema. Migrations run as the owner of the
 * tables; call these functions after them. They write only if something is missing.
 */
export interface ServiceAccess {
  /** Holds a password, so it must not be logged. */
  readonly url: string;
  /** Why the service works with the owner's rights after all. `null` if it does not. */
  readonly unrestrictedBecause: string | null;
}

const applicationName = 'engraft-service-role';

/**
 * For an embedded server, whose superuser `ownerUrl` names. The role logs in itself, with a password derived from the
 * superuser's, so that every process finds the same one. Returns the role's URL.
 */
export async function prepareServiceLogin(ownerUrl: string): Promise<string> {
  const url = new URL(ownerUrl);
  const derive = (purpose: string): Buffer => createHmac('sha256', url.password).update(purpose).digest();
  const password = derive(`password of ${serviceRole}`).toString('base64url');
  const verifier = scramVerifier(password, derive(`salt of ${serviceRole}`).subarray(0, 16));
  await withSession(ownerUrl, applicationName, async (client) => {
    const isLoginRight = async (): Promise<boolean> => {
      const { rows } = await client.query<{ right: boolean }>(
        `SELECT rolcanlogin AND rolpassword = $2 AND
           NOT (rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls) AS right
         FROM pg_authid WHERE rolname = $1`,
        [serviceRole, verifier],
      );
      return rows[0]?.right === true;
    };
    if (!(await isLoginRight())) {
      await createRole(client);
      await underLock(client, async () => {
        if (await isLoginRight()) return;
        await client.query(
          `ALTER ROLE ${serviceRole} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS
           PASSWORD ${pg.escapeLiteral(verifier)}`,
        );
      });
    }
    await grantWhatIsMissing(client, (await readStanding(client)).schema);
  });
  url.username = serviceRole;
  url.password = password;
  return url.href;
}

/**
 * For an operator's database. If the user of the URL owns the tables, the role is made if need be, and every connection
 * takes it on as it starts. (It does so by a startup parameter: a pooler in transaction mode would pass on to others
 * what a statement sets.) A user who does not own them, such as a login that is a member of the role, works as it is.
 */
export async function prepareServiceRole(databaseUrl: string): Promise<ServiceAccess> {
  const unrestricted = (why: string): ServiceAccess => ({ url: databaseUrl, unrestrictedBecause: why });
  try {
    const url = await withSession(databaseUrl, applicationName, async (client) => {
      const { owns_tables, schema } = await readStanding(client);
      if (!owns_tables) return databaseUrl;
      await createRole(client);
      await grantWhatIsMissing(client, schema);
      if (!(await readStanding(client)).takes_on_role) {
        await client.query(`GRANT ${serviceRole} TO CURRENT_USER`).catch(unlessDoneMeanwhile);
        crashPoint('role.granted');
      }
      return takingOnRole(databaseUrl, schema);
    });
    const refusal = url === databaseUrl ? null : await tryOut(url);
    return refusal === null ? { url, unrestrictedBecause: null } : unrestricted(refusal);
  } catch (error) {
    if (!isDatabaseError(error) || error.code !== insufficientPrivilege) throw error;
    return unrestricted(`its user may not prepare the role ${serviceRole}: ${error.message}`);
  }
}

/** The relation of the session's user and of the role to the tables. */
interface Standing {
  /** Where the tables are, as an SQL identifier. */
  readonly schema: string;
  readonly owns_tables: boolean;
  /** Whether the user may work as the role. */
  readonly takes_on_role: boolean;
}

async function readStanding(client: pg.Client): Promise<Standing> {
  const { rows } = await client.query<Standing>(
    `SELECT quote_ident(nspname) AS schema,
       pg_has_role(relowner, 'USAGE') AS owns_tables,
       coalesce(pg_has_role(role.oid, CASE WHEN current_setting('server_version_num')::int < 160000
         THEN 'MEMBER' ELSE 'SET' END), false) AS takes_on_role
     FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     LEFT JOIN pg_roles AS role ON role.rolname = $1
     WHERE pg_class.oid = 'schema_migrations'::regclass`,
    [serviceRole],
  );
  const [standing] = rows;
  if (standing === undefined) throw new Error('the database has no schema_migrations: migrate it first');
  return standing;
}

/** Makes it without rights. An existing role stays as it is. */
async function createRole(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [serviceRole]);
  if (rowCount !== 0) return;
  await client.query(`CREATE ROLE ${serviceRole} NOLOGIN`).catch(unlessDoneMeanwhile);
  crashPoint('role.created');
}

const alreadyThere = new Set(['42710', '23505']);

/** Databases of one server share the role, and may be opened at the same time. */
function unlessDoneMeanwhile(error: unknown): void {
  if (!isDatabaseError(error) || !alreadyThere.has(error.code ?? '')) throw error;
}

/**
 * Only adds rights: processes of two releases may be at work, and the older must not take away what the newer needs. It
 * looks again under the lock, because two processes that change a table's rights at once would be in each other's way.
 */
async function grantWhatIsMissing(client: pg.Client, schema: string): Promise<void> {
  if ((await missingGrants(client, schema)).length === 0) return;
  await underLock(client, async () => {
    for (const grant of await missingGrants(client, schema)) await client.query(grant);
  });
}

/** Works in a transaction, which the end of the session would roll back. */
async function underLock(client: pg.Client, work: () => Promise<void>): Promise<void> {
  await client.query('BEGIN');
  await lockSchema(client);
  await work();
  await client.query('COMMIT');
  crashPoint('role.prepared');
}

/**
 * The search path goes with it, since PostgreSQL's own starts with a schema named like the role. Done by hand, because
 * the URL of a Unix socket has no host, which `URL` refuses.
 */
function takingOnRole(url: string, schema: string): string {
  const [address = '', query] = url.split(/\?(.*)/s);
  const parameters = new URLSearchParams(query);
  // Options in the URL win over those of the environment, so both are named here.
  const given = parameters.get('options') ?? process.env['PGOPTIONS'] ?? '';
  const path = schema.replace(/[\\\s]/g, '\\$&');
  parameters.set('options', `${given} -c role=${serviceRole} -c search_path=${path}`.trim());
  return `${address}?${parameters.toString()}`;
}

const protocolViolation = '08P01';

/** Why a connection does not take on the role, or `null`. A pooler may refuse the startup parameter or ignore it. */
async function tryOut(url: string): Promise<string | null> {
  try {
    return await withSession(url, applicationName, async (client) => {
      const { rows } = await client.query<{ current_user: string }>('SELECT current_user');
      return rows[0]?.current_user === serviceRole ? null : 'a pooler passes over the startup parameter "options"';
    });
  } catch (error) {
    if (!isDatabaseError(error)) throw error;
    if (isDatabaseUnavailable(error) && error.code !== protocolViolation) throw error;
    return `a connection with the startup parameter "options" was refused: ${error.message}`;
  }
}
