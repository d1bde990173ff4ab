import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loraModules } from '../adapters/loraModules.js';
import type { LoraAdapter } from '../adapters/loraAdapter.js';
import { parseModelConfig } from '../checkpoint/modelConfig.js';
import { JsonFields } from '../checkpoint/jsonFields.js';
import { FlatMatrices, freshMatrices, toAdapter } from '../lora/parameters.js';
import { loraGroups } from '../model/loraGroups.js';
import { moduleTensorSpecs } from '../model/weights.js';
import { TINY_CONFIG } from '../testing/randomCheckpoint.js';
import { EngineError } from '../engine.js';
import type { AdapterReference } from '../types.js';
import { AdapterCache } from './adapterCache.js';
import { outputs } from './joinedMatrices.js';
import { adapterBytes, prepareAdapter, type LoadedAdapter } from './loadedAdapter.js';

const config = parseModelConfig(new JsonFields('config.json', TINY_CONFIG)).decoder;
const flat = freshMatrices(config, 8, 1);
flat.values.fill(1);
const adapter: LoraAdapter = toAdapter(flat, { rank: 8, alpha: 16 });
const BYTES = adapterBytes(prepareAdapter('', adapter, config));
const reference = (name: string): AdapterReference => ({ folder: `/adapters/${name}`, contentHash: name });

function countingCache(maxBytes: number): { cache: AdapterCache; reads: string[] } {
  const reads: string[] = [];
  const read = ({ contentHash }: AdapterReference): Promise<LoadedAdapter> => {
    reads.push(contentHash);
    if (contentHash === 'bad') return Promise.reject(new EngineError('adapter_invalid', 'bad'));
    return Promise.resolve(prepareAdapter(contentHash, adapter, config));
  };
  return { cache: new AdapterCache(maxBytes, read), reads };
}

test('the least recently used adapter goes first', async () => {
  const { cache, reads } = countingCache(2 * BYTES);
  for (const name of ['a', 'b', 'a', 'c', 'a', 'b']) await cache.get(reference(name));
  assert.deepEqual(reads, ['a', 'b', 'c', 'b']);
});

test('an adapter above the bound is kept until the next comes', async () => {
  const { cache, reads } = countingCache(BYTES / 4);
  for (const name of ['a', 'a', 'b', 'a']) await cache.get(reference(name));
  assert.deepEqual(reads, ['a', 'b', 'a']);
});

test('simultaneous requests read once, and a failure is not remembered', async () => {
  const { cache, reads } = countingCache(2 * BYTES);
  const [first, second] = await Promise.all([cache.get(reference('a')), cache.get(reference('a'))]);
  assert.equal(first, second);
  await assert.rejects(cache.get(reference('bad')), { code: 'adapter_invalid' });
  await assert.rejects(cache.get(reference('bad')), { code: 'adapter_invalid' });
  assert.deepEqual(reads, ['a', 'bad', 'bad']);
});

test('B is scaled by alpha / rank', () => {
  const { groups } = prepareAdapter('a', adapter, config);
  for (const name of ['model.layers.0.self_attn.o_proj', 'model.layers.1.mlp.gate_proj']) {
    const { a, b } = groups.get(name)!;
    assert.deepEqual([new Set(a), Math.max(...b)], [new Set([1]), 2]);
  }
});

test('an adapter is kept at its own ranks, rounded up, with nothing for projections that it does not change', () => {
  const lora = { rank: 1, alpha: 2, targets: ['q_proj', 'v_proj'], rankPattern: new Map([['q_proj', 900]]) };
  const own = new FlatMatrices(moduleTensorSpecs(config, loraModules(config, lora)));
  const { groups } = prepareAdapter('a', toAdapter(own, lora), config);
  assert.deepEqual(
    [...groups].map(([name, { ranks, a, b }]) => [name, ranks, a.length, b.length]),
    loraGroups(config)
      .filter(({ name }) => name.includes('q_proj'))
      .map((group) => [group.name, [904, 0, 8], 912 * group.width, 912 * outputs(group)]),
  );
});

test('what the stacks of batches take is no room for adapters', async () => {
  const { cache, reads } = countingCache(3 * BYTES);
  for (const name of ['a', 'b', 'c']) await cache.get(reference(name));
  cache.resizeStacks(BYTES);
  for (const name of ['c', 'b', 'a']) await cache.get(reference(name));
  assert.deepEqual(reads, ['a', 'b', 'c', 'a']);
  cache.resizeStacks(0);
  for (const name of ['b', 'c', 'a', 'b']) await cache.get(reference(name));
  assert.deepEqual(reads, ['a', 'b', 'c', 'a', 'c']);
});
