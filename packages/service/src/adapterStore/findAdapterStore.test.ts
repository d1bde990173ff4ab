import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createTestKey, createTestProject } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { createTestVersion } from '../testing/testVersion.js';
import { storeMark } from './adapterStore.js';
import { findFolderStore } from './findAdapterStore.js';

describe('the adapter store of a database', () => {
  let database: TestDatabase;
  let dataFolder: string;
  let home: string;
  before(async () => {
    database = await openTestDatabase();
    dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-found-'));
    home = path.join(dataFolder, 'adapters');
  });
  after(async () => {
    await database.close();
    await rm(dataFolder, { recursive: true });
  });

  it('is made for a new installation, and found again, also from before there was a mark', async () => {
    const store = await findFolderStore(database.db, dataFolder);
    assert.deepEqual(await readdir(home), [storeMark]);
    const key = await createTestKey(database.db, await createTestProject(database.db));
    await createTestVersion(database.db, key);
    const { adapter_hash } = await database.db.selectFrom('versions').selectAll().executeTakeFirstOrThrow();
    assert.ok(await (await findFolderStore(database.db, dataFolder)).isPresent());
    await mkdir(store.locate(adapter_hash).folder);
    await rm(path.join(home, storeMark));
    assert.ok(await (await findFolderStore(database.db, dataFolder)).isPresent());
  });

  it('is refused where nothing is of it, and keeps and removes nothing when its file system is gone', async () => {
    const store = await findFolderStore(database.db, dataFolder);
    const { adapter_hash } = await database.db.selectFrom('versions').selectAll().executeTakeFirstOrThrow();
    await rename(home, `${home}-unmounted`);
    for (const make of [() => Promise.resolve(), () => mkdir(home)]) {
      await make();
      await assert.rejects(findFolderStore(database.db, dataFolder), {
        name: 'AdapterStoreMissing',
        message: /mount its file system/,
      });
      assert.equal(await store.isPresent(), false);
      await assert.rejects(store.remove(adapter_hash), { name: 'AdapterStoreMissing' });
      await assert.rejects(store.keep(store.locate(adapter_hash)), { name: 'AdapterStoreMissing' });
    }
    // The way out that the message names.
    await writeFile(path.join(home, storeMark), '');
    assert.ok(await (await findFolderStore(database.db, dataFolder)).isPresent());
  });
});
