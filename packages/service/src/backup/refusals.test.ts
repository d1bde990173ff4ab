import assert from 'node:assert/strict';
import { mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { storeMark } from '../adapterStore/adapterStore.js';
import { makeDataFolder } from '../startup/dataFolder.js';
import { withEmptyDatabase } from '../testing/emptyDatabase.js';
import { rewriteBackup } from '../testing/rewriteBackup.js';
import { openBackupSource, reading, type BackupSource } from '../testing/testBackup.js';
import { restoreBackup } from './restoreBackup.js';

describe('backup and restore, of what cannot be,', () => {
  let source: BackupSource;
  before(async () => {
    source = await openBackupSource();
    await source.learn('weights');
  });
  after(() => source.close());

  it('refuses a file of which any byte was changed, lost or added, and makes nothing', async () => {
    // Small, since the folder of adapters is empty; without its mark that would be a mount that is missing.
    const dataFolder = source.newPath();
    await assert.rejects(source.backUp({ dataFolder }), { name: 'AdapterStoreMissing' });
    await mkdir(path.join(dataFolder, 'adapters'), { recursive: true });
    await writeFile(path.join(dataFolder, 'adapters', storeMark), '');
    const { file } = await source.backUp({ dataFolder });
    const bytes = await readFile(file);
    const ends = [...Array(20).keys(), ...Array.from({ length: 100 }, (_, index) => bytes.length - 1 - index)];
    const anywhere = Array.from({ length: 40 }, () => Math.floor(Math.random() * bytes.length));
    const flipped = [...ends, ...anywhere].map((at) => {
      const copy = Buffer.from(bytes);
      copy[at] = (copy[at] ?? 0) ^ (1 << (at % 8));
      return copy;
    });
    const cut = [0, 1, 10, 100, bytes.length / 2, bytes.length - 1].map((length) => bytes.subarray(0, length));
    const changed = source.newPath();
    const folder = source.newPath();
    for (const each of [...flipped, ...cut, Buffer.concat([bytes, Buffer.of(0)])]) {
      await writeFile(changed, each);
      const restoring = restoreBackup({ file: changed, dataFolder: folder, databaseUrl: null });
      await assert.rejects(restoring, { name: 'BackupError', message: /is damaged or incomplete, or not of Engraft/ });
    }
    for (const [other, message] of [
      [`${changed}.none`, `there is no file ${changed}.none`],
      [path.dirname(changed), `${path.dirname(changed)} is no file`],
    ] as const) {
      const restoring = restoreBackup({ file: other, dataFolder: folder, databaseUrl: null });
      await assert.rejects(restoring, { name: 'BackupError', message });
    }
    await assert.rejects(stat(folder), { code: 'ENOENT' });
  });

  it('refuses what does not fit its manifest, a newer schema and another format, and leaves no trace', async () => {
    const { file } = await source.backUp();
    type Change = (name: string, text: string) => string | null;
    const cases: [RegExp, Change][] = [
      [
        /table projects is not what its manifest says/,
        (name, text) => (name.includes('projects') ? text.replace('30', '31') : text),
      ],
      [/table api_keys is not what its manifest says/, (name, text) => (name.includes('api_keys') ? null : text)],
      [/adapter sha256:.* is not what its manifest says/, (name, text) => (/config.json/.test(name) ? null : text)],
      [/has no manifest/, (name, text) => (name === 'manifest.json' ? null : text)],
      [
        /has migration 9999_later, which this version of the service does not know/,
        (name, text) =>
          name === 'engraft-backup.json'
            ? text.replace('"migrations": [', `"migrations": [{"name": "9999_later", "sha256": "${'0'.repeat(64)}"},`)
            : text,
      ],
      [
        /is of format 2, and this release reads format 1/,
        (_, text) => text.replace('"format_version": 1', '"format_version": 2'),
      ],
      [/is no backup: '.*' is not what comes next/, (name, text) => (name === 'engraft-backup.json' ? null : text)],
    ];
    await withEmptyDatabase(source.database, async (databaseUrl) => {
      for (const [message, change] of cases) {
        const changed = source.newPath();
        await rewriteBackup(file, changed, change);
        const folder = source.newPath();
        await assert.rejects(restoreBackup({ file: changed, dataFolder: folder, databaseUrl }), { message });
        await assert.rejects(stat(folder), { code: 'ENOENT' });
      }
      const { rows } = await reading(databaseUrl, (empty) =>
        sql`select from pg_class where relnamespace = current_schema()::regnamespace`.execute(empty),
      );
      assert.deepEqual(rows, []);
    });
  });

  it('refuses a folder that is not empty and a database that is in use, and changes neither', async () => {
    const { file } = await source.backUp();
    const folder = source.newPath();
    await mkdir(folder);
    const there = path.join(folder, 'there');
    await writeFile(there, 'before');
    await assert.rejects(restoreBackup({ file, dataFolder: folder, databaseUrl: null }), /is not empty/);
    assert.deepEqual(await readdir(folder), ['there']);
    await rm(there);
    await assert.rejects(
      restoreBackup({ file, dataFolder: folder, databaseUrl: source.database.url }),
      /in use already/,
    );
    assert.deepEqual(await readdir(folder), []);
    await mkdir(path.join(folder, '.restoring'));
    await assert.rejects(makeDataFolder(folder), /a backup is being restored into it; if the restore was cut short/);
  });

  it('replaces an earlier backup and no other file, and leaves nothing of one that was interrupted', async () => {
    const folder = source.newPath();
    await mkdir(folder);
    const file = path.join(folder, 'backup.tar.gz');
    await source.backUp({ file });
    await writeFile(`${file}.partial`, 'of one that was killed', { mode: 0o644 });
    await source.backUp({ file });
    const other = path.join(folder, 'passage.txt');
    await writeFile(other, 'somebody wrote this');
    await assert.rejects(source.backUp({ file: other }), /passage.txt is there already, and is no backup/);
    await assert.rejects(source.backUp({ file: path.join(folder, 'no', 'folder') }), /there is no folder/);

    const interrupt = new AbortController();
    const stopping = { onProgress: () => interrupt.abort(new Error('enough')), signal: interrupt.signal };
    await assert.rejects(source.backUp({ file: path.join(folder, 'interrupted'), ...stopping }));
    assert.deepEqual((await readdir(folder)).sort(), ['backup.tar.gz', 'passage.txt']);
    const restored = source.newPath();
    await assert.rejects(restoreBackup({ file, dataFolder: restored, databaseUrl: null, ...stopping }));
    await assert.rejects(stat(restored), { code: 'ENOENT' });
  });
});
