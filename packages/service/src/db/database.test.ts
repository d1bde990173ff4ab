import assert from 'node:assert/strict';
import { connect, createServer, type Socket } from 'node:net';
import { it } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase } from '../testing/testDatabase.js';
import { openDatabase } from './database.js';
import { isDatabaseUnavailable } from './databaseErrors.js';

/**
 * A fault injector: hands bytes on, but for those of connections that it was told to forget, which it neither carries
 * nor closes.
 */
async function openForgetfulProxy(target: URL) {
  const carried = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    carried.add(near);
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
  return { port: address.port, forget: () => carried.clear(), close: () => server.close() };
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
