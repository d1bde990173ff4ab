import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { EngineError } from '@engraft/engine';
import { createStoragePause, isStorageFull } from './storageFull.js';

describe('a full disk', () => {
  it('is known by what the operating system and the engine say', { skip: !existsSync('/dev/full') }, async () => {
    const failed: unknown = await writeFile('/dev/full', 'x').catch((error: unknown) => error);
    assert.ok(isStorageFull(failed));
    assert.ok(isStorageFull(new Error('not written', { cause: failed })));
    assert.ok(isStorageFull(new EngineError('storage_full', 'no room')));
    for (const other of [new EngineError('internal', 'ENOSPC'), new Error('53100'), 'ENOSPC', null]) {
      assert.ok(!isStorageFull(other));
    }
  });

  it('is waited for ever longer, up to a bound, and anew once there was room', () => {
    const pause = createStoragePause({ firstMs: 30_000, longestMs: 100_000 });
    assert.equal(pause.on(), false);
    assert.deepEqual([pause.begin(), pause.begin(), pause.begin(), pause.begin()], [30_000, 60_000, 100_000, 100_000]);
    assert.equal(pause.on(), true);
    pause.end();
    assert.equal(pause.on(), false);
    assert.equal(pause.begin(), 30_000);
  });

  it('is waited for no longer than that', () => {
    const pause = createStoragePause({ firstMs: 0, longestMs: 0 });
    pause.begin();
    assert.equal(pause.on(), false);
  });
});
