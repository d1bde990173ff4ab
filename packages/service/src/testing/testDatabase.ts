import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import pg from 'pg';
import { openDatabase } from '../db/database.js';
import { attachEmbeddedPostgres } from '../db/embeddedPostgres/index.js';
import { migrate } from '../db/migrate.js';
import type { Database } from '../db/schema.js';
import { prepareServiceRole } from '../db/serviceRole/serviceRole.js';

/** A new, migrated database for one test file, on a real PostgreSQL. */
export interface TestDatabase {
  /** A connection with the rights of the service. */
  readonly db: Kysely<Database>;
  /** A connection with the rights of the tables' owner, who can lift their rules. */
  readonly owner: Kysely<Database>;
  /** The owner's URL. */
  readonly url: string;
  /** Closes the pools and drops the database. */
  close(): Promise<void>;
}

/**
 * Uses the server of `ENGRAFT_TEST_DATABASE_URL`, whose user may create databases and roles; `npm test` sets it once
 * for all files. Otherwise it starts an embedded PostgreSQL for this call alone. With `durable: false`, commits do not
 * wait for the disk, which saves tests with very many writes most of their time.
 */
export async function openTestDatabase({ maxConnections = 8, durable = true } = {}): Promise<TestDatabase> {
  const server = await findServer();
  const name = `engraft_test_${randomBytes(6).toString('hex')}`;
  await runOn(server.url, `CREATE DATABASE ${name}`);
  const url = withDatabase(server.url, name);
  await migrate(url);
  const access = await prepareServiceRole(durable ? url : withoutFlushes(url));
  if (access.unrestrictedBecause !== null) throw new Error(access.unrestrictedBecause);
  const db = openDatabase(access.url, { maxConnections });
  const owner = openDatabase(url, { maxConnections });
  return {
    db,
    owner,
    url,
    close: async () => {
      await Promise.all([db.destroy(), owner.destroy()]);
      await runOn(server.url, `DROP DATABASE ${name} WITH (FORCE)`);
      await server.release();
    },
  };
}

interface Server {
  readonly url: string;
  release(): Promise<void>;
}

async function findServer(): Promise<Server> {
  const url = process.env['ENGRAFT_TEST_DATABASE_URL'];
  if (url !== undefined && url !== '') return { url, release: () => Promise.resolve() };
  const folder = await mkdtemp(join(tmpdir(), 'engraft-test-'));
  const server = await attachEmbeddedPostgres(folder);
  return {
    url: server.url,
    release: async () => {
      await server.release();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function runOn(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Done by hand, because the URL of a Unix socket has no host, which `URL` refuses. */
function withDatabase(serverUrl: string, database: string): string {
  return serverUrl.replace(/^(\w+:\/\/[^/?]*)(\/[^?]*)?/, `$1/${database}`);
}

function withoutFlushes(url: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}options=${encodeURIComponent('-c synchronous_commit=off')}`;
}
