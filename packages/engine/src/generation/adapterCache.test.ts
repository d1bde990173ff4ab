import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoraAdapter } from '../adapters/loraAdapter.js';
import { parseModelConfig } from '../checkpoint/modelConfig.js';
import { JsonFields } from '../checkpoint/jsonFields.js';
import { loraTensorSpecs } from '../model/weights.js';
import { TINY_CONFIG } from '../testing/randomCheckpoint.js';
import { EngineError } from '../engine.js';
import type { AdapterReference } from '../types.js';
import { AdapterCache } from './adapterCache.js';

const config = parseModelConfig(new JsonFields('config.json', TINY_CONFIG)).decoder;
const adapter: LoraAdapter = {
  rank: 1,
  alpha: 2,
  matrices: new Map(
    loraTensorSpecs(config, 1).map(({ name, shape }) => {
      return [name, { shape, data: new Float32Array(shape[0] * shape[1]).fill(1) }] as const;
    }),
  ),
};
const adapterBytes = [...adapter.matrices.values()].reduce((sum, { data }) => sum + data.byteLength, 0);
const reference = (name: string): AdapterReference => ({ folder: `/adapters/${name}`, contentHash: name });

function countingCache(maxBytes: number): { cache: AdapterCache; reads: string[] } {
  const reads: string[] = [];
  const read = ({ contentHash }: AdapterReference): Promise<LoraAdapter> => {
    reads.push(contentHash);
    if (contentHash === 'bad') return Promise.reject(new EngineError('adapter_invalid', 'bad'));
    return Promise.resolve(adapter);
  };
  return { cache: new AdapterCache(config, maxBytes, read), reads };
}

test('the least recently used adapter goes first', async () => {
  const { cache, reads } = countingCache(2 * adapterBytes);
  for (const name of ['a', 'b', 'a', 'c', 'a', 'b']) await cache.get(reference(name));
  assert.deepEqual(reads, ['a', 'b', 'c', 'b']);
});

test('an adapter above the bound is kept until the next comes', async () => {
  const { cache, reads } = countingCache(adapterBytes / 4);
  for (const name of ['a', 'a', 'b', 'a']) await cache.get(reference(name));
  assert.deepEqual(reads, ['a', 'b', 'a']);
});

test('simultaneous requests read once, and a failure is not remembered', async () => {
  const { cache, reads } = countingCache(2 * adapterBytes);
  const [first, second] = await Promise.all([cache.get(reference('a')), cache.get(reference('a'))]);
  assert.equal(first, second);
  await assert.rejects(cache.get(reference('bad')), { code: 'adapter_invalid' });
  await assert.rejects(cache.get(reference('bad')), { code: 'adapter_invalid' });
  assert.deepEqual(reads, ['a', 'bad', 'bad']);
});

test('B is scaled by alpha / rank', async () => {
  const { matrices } = await countingCache(2 * adapterBytes).cache.get(reference('a'));
  const name = 'model.layers.0.self_attn.q_proj';
  assert.equal(matrices.get(`${name}.lora_A`)?.data[0], 1);
  assert.equal(matrices.get(`${name}.lora_B`)?.data[0], 2);
});
