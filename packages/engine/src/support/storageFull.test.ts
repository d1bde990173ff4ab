import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { test } from 'node:test';
import { EngineError } from '../engine.js';
import { isStorageFull } from './storageFull.js';

const fullDevice = '/dev/full';

test('a full disk is known by the operating system’s own word', { skip: !existsSync(fullDevice) }, async () => {
  const handle = await open(fullDevice, 'w');
  try {
    const failed: unknown = await handle.writeFile('x').catch((error: unknown) => error);
    assert.ok(isStorageFull(failed));
    assert.ok(isStorageFull(new EngineError('internal', 'could not be written', { cause: failed })));
  } finally {
    await handle.close();
  }
});

test('and nothing else is taken for one', async () => {
  const missing: unknown = await open('/nowhere/at/all').catch((error: unknown) => error);
  assert.ok(missing instanceof Error);
  for (const error of [missing, new Error('ENOSPC'), 'ENOSPC', null, undefined]) assert.ok(!isStorageFull(error));
});
