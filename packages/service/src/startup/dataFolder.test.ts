import assert from 'node:assert/strict';
import { mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { makeDataFolder } from './dataFolder.js';

describe('makeDataFolder', () => {
  let home: string;

  before(async () => {
    home = await mkdtemp(path.join(tmpdir(), 'engraft-folder-'));
  });

  after(() => rm(home, { recursive: true }));

  it('makes every level that is missing, for the owner alone, and leaves what is there', async () => {
    const folder = path.join(home, 'a', 'b', 'c');
    await Promise.all([makeDataFolder(folder), makeDataFolder(folder)]);
    assert.equal((await stat(folder)).mode & 0o777, 0o700);
    await writeFile(path.join(folder, 'kept'), '');
    await makeDataFolder(`${folder}/`);
    assert.ok((await stat(path.join(folder, 'kept'))).isFile());
  });

  it('names the setting when the folder cannot be used', async () => {
    const file = path.join(home, 'file');
    await writeFile(file, '');
    const dangling = path.join(home, 'dangling');
    await symlink(path.join(home, 'nowhere'), dangling);
    const where =
      process.platform === 'linux' ? [file, path.join(file, 'below'), dangling, '/proc/x/y'] : [file, dangling];
    for (const folder of where) {
      await assert.rejects(makeDataFolder(folder), (error) => {
        assert.ok(error instanceof Error);
        const named = `the data folder ${folder} (--data, ENGRAFT_DATA_DIR) cannot be used: `;
        assert.ok(error.message.startsWith(named) && error.message.length > named.length, error.message);
        return true;
      });
    }
  });
});
