import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openCheckpoint } from '../checkpoint/checkpoint.js';
import type { DecoderConfig } from '../model/config.js';
import { withRandomCheckpoint, writeRandomAdapter } from '../testing/randomCheckpoint.js';
import type { AdapterReference } from '../types.js';
import { AdapterLoader } from './adapterLoader.js';
import { adapterBytes, loadAdapter, memoryOf } from './loadedAdapter.js';

interface Setting {
  readonly loader: AdapterLoader;
  readonly config: DecoderConfig;
  readonly references: readonly AdapterReference[];
}

async function withLoader(use: (setting: Setting) => Promise<void>): Promise<void> {
  await withRandomCheckpoint(async (folder) => {
    const { config } = await openCheckpoint(join(folder, 'model'));
    const references: AdapterReference[] = [];
    for (const seed of [1, 2, 3])
      references.push(await writeRandomAdapter(join(folder, `a${seed}`), config, seed, seed));
    const loader = new AdapterLoader(config);
    try {
      await use({ loader, config, references });
    } finally {
      await loader.close();
    }
  });
}

test('adapters asked for at once come as they would one by one', async () => {
  await withLoader(async ({ loader, config, references }) => {
    const loaded = await Promise.all(references.map((reference) => loader.load(reference)));
    for (const [index, reference] of references.entries()) {
      assert.deepEqual(loaded[index], await loadAdapter(reference, config));
    }
  });
});

test('memory of another adapter that is handed over is used if it has the right size, and nothing stays of what was there', async () => {
  await withLoader(async ({ loader, config, references: [reference] }) => {
    const expected = await loadAdapter(reference!, config);
    const size = adapterBytes(expected);
    for (const bytes of [size, size - 4, size + 4]) {
      const handedOver = new Float32Array(bytes / 4).fill(7).buffer;
      assert.deepEqual(await loader.load(reference!, handedOver), expected);
      assert.equal(handedOver.byteLength, 0, 'it was handed over');
      const own = new Float32Array(bytes / 4).fill(7).buffer;
      const [memory] = memoryOf(await loadAdapter(reference!, config, own));
      assert.equal(memory === own, bytes === size);
    }
  });
});

test('a refusal comes with its code and its message, and what is loaded next is not harmed', async () => {
  await withLoader(async ({ loader, references: [reference] }) => {
    const promised = { folder: reference!.folder, contentHash: `sha256:${'0'.repeat(64)}` };
    await assert.rejects(loader.load(promised), {
      name: 'EngineError',
      code: 'adapter_damaged',
      message: /contentHash is sha256:/,
    });
    const missing = { ...reference!, folder: join(reference!.folder, 'missing') };
    await assert.rejects(loader.load(missing), { code: 'adapter_damaged', message: /missing/ });
    assert.equal((await loader.load(reference!)).contentHash, reference!.contentHash);
  });
});

test('closing ends what is being loaded', async () => {
  await withLoader(async ({ loader, references: [reference] }) => {
    const loading = assert.rejects(loader.load(reference!), { name: 'EngineError', code: 'cancelled' });
    await loader.close();
    await loading;
    await assert.rejects(loader.load(reference!), { code: 'cancelled' }, 'and nothing is loaded afterwards');
  });
});
