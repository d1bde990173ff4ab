import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { watchSyncs } from '../testing/watchSyncs.js';
import { readDefaultKey, writeDefaultKey } from './defaultKey.js';

describe('the key of the first start', () => {
  const skip = process.platform !== 'linux' && 'syncs are watched by /proc';

  it('survives a power cut once it is written, with the name that it is looked for by', { skip }, async () => {
    const dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-key-'));
    const watched = await watchSyncs();
    try {
      await writeDefaultKey(dataFolder, 'a secret');
    } finally {
      watched.stop();
    }
    // A key that was never synced under its name would be lost, while the database has it: nobody could be given
    // another.
    const ofFolder = watched.seen.filter(({ target }) => target === dataFolder);
    assert.deepEqual(ofFolder.at(-1)?.names, ['default-key']);
    assert.equal(await readDefaultKey(dataFolder), 'a secret');
    assert.equal((await stat(path.join(dataFolder, 'default-key'))).mode & 0o777, 0o600);
    await rm(dataFolder, { recursive: true });
  });
});
