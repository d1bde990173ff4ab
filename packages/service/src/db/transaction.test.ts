import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { crashPointChannel } from '../crashPoints.js';
import { createProject } from '../projects/createProject.js';
import { findProjectByName } from '../projects/projectQueries.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { openDatabase } from './database.js';
import { isDatabaseUnavailable, isTransactionConflict } from './databaseErrors.js';
import { isDatabaseReachable } from './isDatabaseReachable.js';
import { crashPointOnceCommitted, inTransaction, RolledBack } from './transaction.js';

let database: TestDatabase;
before(async () => (database = await openTestDatabase()));
after(() => database.close());

describe('a transaction', () => {
  test('that comes back rolled back has its outcome and no trace', async () => {
    const outcome = await inTransaction<string>(database.db, null, async (trx) => {
      await trx.insertInto('projects').values({ id: 'prj_gone', name: 'gone' }).execute();
      return new RolledBack('refused');
    });
    assert.equal(outcome, 'refused');
    assert.equal(await findProjectByName(database.db, 'gone'), null);
  });

  test('that throws leaves no trace, and the error passes through', async () => {
    await assert.rejects(
      inTransaction(database.db, null, async (trx) => {
        await trx.insertInto('projects').values({ id: 'prj_gone', name: 'gone' }).execute();
        throw new TypeError('mistake');
      }),
      TypeError,
    );
    assert.equal(await findProjectByName(database.db, 'gone'), null);
  });

  test('that is the victim of a deadlock is repeated', async () => {
    for (const name of ['left', 'right']) await createProject(database.db, { name });
    let attempts = 0;
    let meet: () => void = () => undefined;
    const bothHoldOne = new Promise<void>((resolve) => (meet = resolve));
    const rename = (first: string, second: string) =>
      inTransaction(database.db, null, async (trx) => {
        attempts += 1;
        await trx.updateTable('projects').set({ requests_per_minute: 1 }).where('name', '=', first).execute();
        if (attempts >= 2) meet();
        await bothHoldOne;
        await trx.updateTable('projects').set({ requests_per_minute: 2 }).where('name', '=', second).execute();
        return 'committed';
      });
    assert.deepEqual(await Promise.all([rename('left', 'right'), rename('right', 'left')]), ['committed', 'committed']);
    assert.equal(attempts, 3);
  });

  test('passes the crash points of its parts when the whole has committed, and none when it has not', async () => {
    const passed: unknown[] = [];
    const note = (name: unknown): void => void passed.push(name);
    const create = (name: string, outcome: string | RolledBack<string>): Promise<string> =>
      inTransaction<string>(database.db, 'audit.recorded', async (trx) => {
        await createProject(trx, { name });
        crashPointOnceCommitted(trx, 'project.set');
        assert.deepEqual(passed, []);
        return inTransaction<string>(trx, null, () => Promise.resolve(outcome));
      });
    subscribe(crashPointChannel, note);
    assert.equal(await create('undone', new RolledBack('refused')), 'refused');
    assert.deepEqual(passed, []);
    assert.equal(await create('done', 'committed'), 'committed');
    unsubscribe(crashPointChannel, note);
    assert.deepEqual(passed, ['project.created', 'project.set', 'audit.recorded']);
  });
});

describe('the pool', () => {
  test('reads a bigint as a number, and refuses one that would be rounded', async () => {
    const { rows } = await sql`select 9007199254740991::bigint as n`.execute(database.db);
    assert.deepEqual(rows, [{ n: Number.MAX_SAFE_INTEGER }]);
    await assert.rejects(sql`select 9007199254740992::bigint as n`.execute(database.db), RangeError);
  });

  test('keeps U+0000 and lone surrogates in documents', async () => {
    const text = JSON.stringify({ text: '\u0000 \ud800' });
    const { rows } = await sql`select ${text}::json as document`.execute(database.db);
    assert.deepEqual(rows, [{ document: { text: '\u0000 \ud800' } }]);
  });
});

describe('an error of the database', () => {
  test('that says nobody is there is an outage', async () => {
    const nobody = openDatabase('postgres://127.0.0.1:1/none', { maxConnections: 1 });
    const error: unknown = await sql`select 1`.execute(nobody).catch((caught: unknown) => caught);
    assert.ok(isDatabaseUnavailable(error));
    assert.equal(await isDatabaseReachable(nobody), false);
    assert.equal(await isDatabaseReachable(database.db), true);
    await nobody.destroy();
  });

  test('that ends the session in the middle of a query is an outage', async () => {
    const doomed = openDatabase(database.url, { maxConnections: 1 });
    const error: unknown = await sql`select pg_terminate_backend(pg_backend_pid())`
      .execute(doomed)
      .catch((caught: unknown) => caught);
    assert.ok(isDatabaseUnavailable(error));
    await doomed.destroy();
  });

  test('that says the query is wrong is neither an outage nor a conflict', async () => {
    const error: unknown = await sql`select nothing`.execute(database.db).catch((caught: unknown) => caught);
    assert.ok(!isDatabaseUnavailable(error));
    assert.ok(!isTransactionConflict(error));
    assert.ok(!isDatabaseUnavailable(new TypeError('mistake')));
    assert.ok(!isDatabaseUnavailable(Object.assign(new Error('no such file'), { code: 'ENOENT', syscall: 'open' })));
  });
});
