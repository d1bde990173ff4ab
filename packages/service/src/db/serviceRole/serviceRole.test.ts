import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { grantCredit } from '../../ledger/grantCredit.js';
import { verifyLedger } from '../../ledger/verifyLedger.js';
import { openInstallation, type Installation } from '../../startup/installation.js';
import { createTestKey, createTestProject } from '../../testing/testApp.js';
import { createTestVersion } from '../../testing/testVersion.js';
import { attachEmbeddedPostgres, type EmbeddedPostgres } from '../embeddedPostgres/index.js';
import { migrate } from '../migrate.js';
import { withSession } from '../session.js';
import { prepareServiceLogin } from './serviceRole.js';

let folder: string;
let server: EmbeddedPostgres;
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'engraft-role-'));
  server = await attachEmbeddedPostgres(folder);
});
after(async () => {
  await server.release();
  await rm(folder, { recursive: true });
});

async function query(url: string, statement: string): Promise<unknown[]> {
  return withSession(url, 'test', async (client) => (await client.query<Record<string, unknown>>(statement)).rows);
}

/** Does the work of a service and its commands, in short. */
async function assertWorks({ db }: Installation): Promise<void> {
  const key = await createTestKey(db, await createTestProject(db));
  await createTestVersion(db, key);
  assert.equal(
    (await grantCredit(db, { project_id: key.project_id, amount_microusd: 5, memo: 'more' })).kind,
    'granted',
  );
  assert.deepEqual((await verifyLedger(db)).differences, []);
}

async function currentUser({ db }: Installation): Promise<string | undefined> {
  return (await sql<{ name: string }>`select current_user as name`.execute(db)).rows[0]?.name;
}

describe('a database of DATABASE_URL', () => {
  const owners: string[] = [];

  /** A database whose owner has these attributes; returns the owner's URL. */
  async function makeDatabase(attributes: string): Promise<string> {
    const name = `tenant_${owners.push(attributes)}`;
    await query(server.url, `CREATE ROLE ${name} LOGIN PASSWORD 'secret' ${attributes}`);
    await query(server.url, `CREATE DATABASE ${name} OWNER ${name}`);
    return urlOf(name, name);
  }

  function urlOf(user: string, database: string): string {
    const url = new URL(server.url);
    [url.username, url.password, url.pathname] = [user, 'secret', `/${database}`];
    return url.href;
  }

  async function open(databaseUrl: string): Promise<Installation> {
    return openInstallation({ dataFolder: folder, databaseUrl }, { maxConnections: 2 });
  }

  async function assertWorksAs(user: string, url: string, unrestrictedBecause: RegExp | null): Promise<void> {
    const installation = await open(url);
    try {
      if (unrestrictedBecause === null) assert.equal(installation.unrestrictedBecause, null);
      else assert.match(installation.unrestrictedBecause ?? '', unrestrictedBecause);
      assert.equal(await currentUser(installation), user);
      await assertWorks(installation);
    } finally {
      await installation.close();
    }
  }

  test('whose owner may not create the role is served with the rights of the owner, which is said', async () => {
    const url = await makeDatabase('');
    await assertWorksAs('tenant_1', url, /may not prepare the role engraft_service: permission denied to create role/);
  });

  test('whose owner may create roles is served as the role, from many simultaneous first opens', async () => {
    const url = await makeDatabase('CREATEROLE');
    await query(server.url, 'CREATE DATABASE beside OWNER tenant_2');
    const other = urlOf('tenant_2', 'beside');
    const installations = await Promise.all([url, other, url, other, url, other].map(open));
    try {
      for (const installation of installations) {
        assert.equal(installation.unrestrictedBecause, null);
        assert.equal(await currentUser(installation), 'engraft_service');
      }
      await Promise.all(installations.slice(0, 2).map(assertWorks));
    } finally {
      await Promise.all(installations.map((installation) => installation.close()));
    }
  });

  test('whose owner neither made the role nor is a member is served with the rights of the owner, until made one', async () => {
    const url = await makeDatabase('');
    await assertWorksAs(
      'tenant_3',
      url,
      /its user may not prepare the role engraft_service: .*(grant role|admin option)/,
    );
    await query(server.url, 'GRANT engraft_service TO tenant_3');
    await assertWorksAs('engraft_service', url, null);
  });

  test('is served in the schema of its owner, with the options of the URL', async () => {
    const url = await makeDatabase('CREATEROLE');
    await query(server.url, 'GRANT engraft_service TO tenant_4');
    await query(url, 'CREATE SCHEMA "my tables"');
    const options = encodeURIComponent('-c search_path="my\\ tables" -c synchronous_commit=off');
    const installation = await open(`${url}?options=${options}`);
    try {
      const { rows } = await sql`select current_setting('synchronous_commit') as setting`.execute(installation.db);
      assert.deepEqual(rows, [{ setting: 'off' }]);
      assert.equal(await currentUser(installation), 'engraft_service');
      await assertWorks(installation);
    } finally {
      await installation.close();
    }
    assert.deepEqual(await query(url, 'SELECT count(*)::int AS n FROM "my tables".projects'), [{ n: 1 }]);
  });

  test('is served to a login that is a member of the role, once the owner has migrated it', async () => {
    const ownerUrl = await makeDatabase('CREATEROLE');
    await query(server.url, `GRANT engraft_service TO tenant_5`);
    await query(server.url, `CREATE ROLE lesser LOGIN PASSWORD 'secret' IN ROLE engraft_service`);
    const url = urlOf('lesser', 'tenant_5');
    await assert.rejects(
      open(url),
      /DATABASE_URL cannot be used: migration 0001_initial is missing, .* with the URL of the owner/,
    );
    await (await open(ownerUrl)).close();
    await assertWorksAs('lesser', url, null);
    await assert.rejects(query(url, 'DELETE FROM transfers'), /permission denied/);
  });

  test('behind a pooler that takes no startup options is served with the rights of the owner, which is said', async () => {
    const url = new URL(await makeDatabase('SUPERUSER'));
    const pooler = await openPooler(new URL(url));
    url.port = String(pooler.port);
    try {
      const refusal = /the startup parameter "options" was refused: unsupported startup parameter: options/;
      await assertWorksAs('tenant_6', url.href, refusal);
    } finally {
      pooler.close();
    }
  });

  /** A fault injector: hands connections on, but refuses those with startup options, as PgBouncer does. */
  async function openPooler(target: URL): Promise<{ readonly port: number; close(): void }> {
    const pooler = createServer((near) => {
      near.on('error', () => undefined);
      near.once('data', (startup: Buffer) => {
        if (startup.includes('options\0')) {
          const fields = 'SFATAL\0C08P01\0Munsupported startup parameter: options\0\0';
          const length = Buffer.alloc(4);
          length.writeInt32BE(4 + fields.length);
          near.end(Buffer.concat([Buffer.from('E'), length, Buffer.from(fields)]));
          return;
        }
        const far = connect(Number(target.port), target.hostname).on('error', () => undefined);
        far.write(startup);
        near.pipe(far).pipe(near);
      });
    });
    await new Promise<void>((resolve) => pooler.listen(0, '127.0.0.1', resolve));
    const address = pooler.address();
    if (address === null || typeof address === 'string') throw new Error('the pooler has no port');
    return { port: address.port, close: () => pooler.close() };
  }
});

describe('an embedded database', () => {
  const open = (): Promise<Installation> =>
    openInstallation({ dataFolder: folder, databaseUrl: null }, { maxConnections: 2 });
  /** When any right of the role, or the role itself, was last written. */
  const readWrites = (): Promise<unknown[]> =>
    query(
      server.url,
      `SELECT 'role' AS what, xmin::text FROM pg_authid WHERE rolname = 'engraft_service'
       UNION ALL SELECT relname, xmin::text FROM pg_class WHERE relnamespace = 'public'::regnamespace
       UNION ALL SELECT nspname, xmin::text FROM pg_namespace WHERE nspname = 'public'
       UNION ALL SELECT attrelid || '.' || attname, xmin::text FROM pg_attribute WHERE attrelid = 'public.accounts'::regclass`,
    );

  test('is served as a role that logs in itself, is no superuser and owns nothing', async () => {
    const installations = await Promise.all([open(), open(), open(), open()]);
    try {
      for (const { db } of installations) {
        const { rows } = await sql`
          select current_user as role, session_user as login, rolsuper, rolcreaterole, rolcreatedb, rolbypassrls, rolreplication,
            (select count(*)::int from pg_shdepend where refobjid = pg_roles.oid and deptype = 'o') as owned
          from pg_roles where rolname = session_user`.execute(db);
        const none = {
          rolsuper: false,
          rolcreaterole: false,
          rolcreatedb: false,
          rolbypassrls: false,
          rolreplication: false,
        };
        assert.deepEqual(rows, [{ role: 'engraft_service', login: 'engraft_service', ...none, owned: 0 }]);
      }
      await assertWorks(installations[0]);
    } finally {
      await Promise.all(installations.map((installation) => installation.close()));
    }
  });

  test('is opened again without a write', async () => {
    await (await open()).close();
    const writes = await readWrites();
    await (await open()).close();
    assert.deepEqual(await readWrites(), writes);
  });

  test('gets back what the role lost: its password, its rights, and its harmlessness', async () => {
    await (await open()).close();
    await query(
      server.url,
      `ALTER ROLE engraft_service NOLOGIN SUPERUSER PASSWORD 'other';
       REVOKE ALL ON ALL TABLES IN SCHEMA public FROM engraft_service; REVOKE USAGE ON SCHEMA public FROM PUBLIC`,
    );
    const installation = await open();
    try {
      await assertWorks(installation);
      const superuser = sql<{ is: boolean }>`select rolsuper as is from pg_roles where rolname = current_user`;
      assert.deepEqual((await superuser.execute(installation.db)).rows, [{ is: false }]);
    } finally {
      await installation.close();
    }
  });

  test('"the service connects as a role that cannot lift the rules"', async () => {
    await migrate(server.url);
    const url = await prepareServiceLogin(server.url);
    for (const statement of [
      'ALTER TABLE transfers DISABLE TRIGGER ALL',
      'ALTER TABLE transfers DROP CONSTRAINT transfers_within_one_project',
      'DROP TRIGGER transfers_apply ON transfers',
      `SET session_replication_role = replica`,
      'SET ROLE engraft',
      'TRUNCATE transfers',
      'TRUNCATE accounts CASCADE',
      'UPDATE transfers SET amount_microusd = 1',
      'DELETE FROM transfers',
      'DELETE FROM accounts',
      'UPDATE accounts SET balance_microusd = 1',
      `INSERT INTO accounts (id, kind, project_id, balance_microusd) VALUES ('spent:x', 'spent', 'x', 1)`,
      'DROP TABLE rate_limits',
      'CREATE TABLE public.mine ()',
      'CREATE TRIGGER mine BEFORE INSERT ON transfers EXECUTE FUNCTION suppress_redundant_updates_trigger()',
      'CREATE OR REPLACE FUNCTION apply_transfer() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$',
      'ALTER FUNCTION check_job_money() SECURITY DEFINER',
      'DELETE FROM schema_migrations',
      `INSERT INTO schema_migrations (name, sha256) VALUES ('9999_future', '')`,
      'ALTER ROLE engraft_service SUPERUSER',
      `COPY transfers TO '/tmp/transfers'`,
    ])
      await assert.rejects(
        query(url, statement),
        (error: Error) => /permission denied|must be (owner|superuser)/i.test(error.message),
        statement,
      );
    await assert.rejects(query(url, `UPDATE accounts SET id = 'x'`), /an account keeps its id, kind and project/);
    // The function that moves balances with its owner's rights, behind a table of one's own.
    const ownTransfers = `
      CREATE TEMPORARY TABLE transfers (from_account text, to_account text, amount_microusd bigint);
      CREATE TRIGGER own AFTER INSERT ON pg_temp.transfers FOR EACH ROW EXECUTE FUNCTION apply_transfer();
      INSERT INTO pg_temp.transfers VALUES ('issued', 'issued', 1)`;
    await assert.rejects(query(url, ownTransfers), /a balance is moved by a transfer only/);
  });

  test('a temporary table that is named like one of ours changes no rule', async () => {
    const installation = await openInstallation({ dataFolder: folder, databaseUrl: null }, { maxConnections: 1 });
    const { db } = installation;
    try {
      const available = `available:${await createTestProject(db, 0)}`;
      await sql`create temporary table accounts (id text, balance_microusd bigint)`.execute(db);
      await sql`insert into accounts values ('issued', 0), (${available}, 0)`.execute(db);
      await sql`insert into transfers (kind, from_account, to_account, amount_microusd)
        values ('grant', 'issued', ${available}, 7)`.execute(db);
      const { rows } = await sql`select (select max(balance_microusd) from accounts) as shadow,
        (select balance_microusd from public.accounts where id = ${available}) as real`.execute(db);
      assert.deepEqual(rows, [{ shadow: 0, real: 7 }]);
    } finally {
      await installation.close();
    }
  });
});
