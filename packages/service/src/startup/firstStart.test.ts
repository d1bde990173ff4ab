import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { authenticate } from '../keys/authenticate.js';
import { listKeys } from '../keys/listKeys.js';
import { readBalance } from '../ledger/accounts.js';
import { createProject } from '../projects/createProject.js';
import { listProjects } from '../projects/projectQueries.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { readDefaultKey } from './defaultKey.js';
import { prepareFirstStart } from './firstStart.js';

describe('"First start on an empty data folder"', () => {
  let database: TestDatabase;
  let folder: string;
  beforeEach(async () => {
    database = await openTestDatabase();
    folder = await mkdtemp(path.join(tmpdir(), 'engraft-first-start-'));
  });
  afterEach(async () => {
    await database.close();
    await rm(folder, { recursive: true });
  });

  /** "The project `default` with 100 USD of starter credit and one key with all scopes", whose secret the file has. */
  async function assertMadeOnce(): Promise<void> {
    const { db } = database;
    const [project, ...others] = await listProjects(db);
    assert.ok(project !== undefined && others.length === 0);
    assert.equal(project.name, 'default');
    assert.equal((await readBalance(db, project.id)).available_microusd, 100_000_000);
    assert.equal((await listKeys(db, project.id)).length, 1);
    const secret = await readDefaultKey(folder);
    assert.ok(secret !== null);
    const key = await authenticate(db, secret);
    assert.deepEqual([...(key?.scopes ?? [])].sort(), ['adapters', 'inference', 'internalize', 'read']);
    assert.equal((await stat(path.join(folder, 'default-key'))).mode & 0o777, 0o600);
  }

  test('is made once, by however many processes begin at once', async () => {
    const starts = await Promise.all(Array.from({ length: 3 }, () => prepareFirstStart(database.db, folder)));
    assert.deepEqual(starts.toSorted(), [false, false, true]);
    await assertMadeOnce();
    const secret = await readFile(path.join(folder, 'default-key'), 'utf8');
    assert.equal(await prepareFirstStart(database.db, folder), false);
    assert.equal(await readFile(path.join(folder, 'default-key'), 'utf8'), secret);
  });

  test('keeps a key that the folder has from another database, and opens this one with it', async () => {
    const other = await openTestDatabase();
    try {
      await prepareFirstStart(other.db, folder);
      const secret = await readDefaultKey(folder);
      await prepareFirstStart(database.db, folder);
      await assertMadeOnce();
      assert.equal(await readDefaultKey(folder), secret);
      assert.notEqual(await authenticate(other.db, secret ?? ''), null);
    } finally {
      await other.close();
    }
  });

  test('is none where an operator has made a project before, whatever it is called', async () => {
    const made = await createProject(database.db, { name: 'default' });
    assert.equal(made.kind, 'created');
    assert.equal(await prepareFirstStart(database.db, folder), false);
    const [project, ...others] = await listProjects(database.db);
    assert.ok(project !== undefined && others.length === 0);
    assert.equal((await readBalance(database.db, project.id)).available_microusd, 0);
    assert.deepEqual(await listKeys(database.db, project.id), []);
    assert.equal(await readDefaultKey(folder), null);
  });

  test('is made good by the next start when the key could not be written', async () => {
    // Nothing can be renamed to the name of a folder that is not empty.
    const inTheWay = path.join(folder, 'default-key', 'something');
    await mkdir(inTheWay, { recursive: true });
    await assert.rejects(prepareFirstStart(database.db, folder));
    await rm(path.join(folder, 'default-key'), { recursive: true });
    await prepareFirstStart(database.db, folder);
    await assertMadeOnce();
  });
});
