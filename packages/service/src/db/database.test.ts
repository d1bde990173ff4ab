import assert from 'node:assert/strict';
import { connect, createServer, type Socket } from 'node:net';
import { it } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase } from '../testing/testDatabase.js';
import { openDatabase } from './database.js';
import { isDatabaseUnavailable } from './databaseErrors.js';

/**
 * A fault injector: hands bytes on, but for those of connections that it was told to forget or not to begin, which it
 * neither carries nor closes.
 */
async function openForgetfulProxy(target: URL) {
  const carried = new Set<Socket>();
  let isOpen = true;
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    if (isOpen) carried.add(near);
    near.on('data', (bytes) => carried.has(near) && far.write(bytes));
    far.on('data', (bytes) => carried.has(near) && near.write(bytes));
    for (const socket of [near, far]) {
      socket.on('error', () => undefined);
      socket.on('close', () => [near, far].forEach((each) => each.destroy()));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return {
    port: address.port,
    forget: () => carried.clear(),
    /** Lets no other connection be made. */
    beginNone: () => void (isOpen = false),
    close: () => server.close(),
  };
}

it('a server that vanished without a word is unavailable after a while, and new connections are made', async () => {
  const database = await openTestDatabase();
  const url = new URL(database.url);
  const proxy = await openForgetfulProxy(new URL(database.url));
  url.port = String(proxy.port);
  const db = openDatabase(url.href, { maxConnections: 1, maxHeldMs: 2_000 });
  const ask = () => sql<{ n: number }>`select 1 as n`.execute(db);
  try {
    assert.equal((await ask()).rows[0]?.n, 1);
    proxy.forget();
    await assert.rejects(ask(), (error) => isDatabaseUnavailable(error));
    assert.equal((await ask()).rows[0]?.n, 1);
    const transaction = db.transaction().execute(async (trx) => {
      await sql`select 1`.execute(trx);
      proxy.forget();
      await sql`select 2`.execute(trx);
    });
    await assert.rejects(transaction, (error) => isDatabaseUnavailable(error));
    assert.equal((await ask()).rows[0]?.n, 1);
  } finally {
    await db.destroy();
    proxy.close();
    await database.close();
  }
});

it('a query whose new connection cannot be made in time takes one that has become free', async () => {
  const database = await openTestDatabase();
  const url = new URL(database.url);
  const proxy = await openForgetfulProxy(new URL(database.url));
  url.port = String(proxy.port);
  const db = openDatabase(url.href, { maxConnections: 2 });
  try {
    await db.transaction().execute(async (trx) => {
      await sql`select 1`.execute(trx);
      proxy.beginNone();
    });
    const [, { rows }] = await Promise.all([
      sql`select pg_sleep(1)`.execute(db),
      sql<{ n: number }>`select 1 as n`.execute(db),
    ]);
    assert.equal(rows[0]?.n, 1);
  } finally {
    await db.destroy();
    proxy.close();
    await database.close();
  }
});
