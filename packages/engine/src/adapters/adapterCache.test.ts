import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { loraModules } from './loraModules.js';
import type { LoraAdapter } from './loraAdapter.js';
import { parseModelConfig } from '../checkpoint/modelConfig.js';
import { JsonFields } from '../checkpoint/jsonFields.js';
import { FlatMatrices, freshMatrices, toAdapter } from '../lora/parameters.js';
import { loraGroups } from '../model/loraGroups.js';
import { moduleTensorSpecs } from '../model/weights.js';
import { tinyConfig } from '../testing/randomCheckpoint.js';
import { EngineError } from '../engine.js';
import type { AdapterReference } from '../types.js';
import { AdapterCache } from './adapterCache.js';
import { outputWidth } from './joinedMatrices.js';
import { adapterBytes, memoryOf, prepareAdapter, type LoadedAdapter } from './loadedAdapter.js';

const config = parseModelConfig(new JsonFields('config.json', tinyConfig)).decoder;
const flat = freshMatrices(config, 8, 1);
flat.values.fill(1);
const adapter: LoraAdapter = toAdapter(flat, { rank: 8, alpha: 16 });
const bytes = adapterBytes(prepareAdapter('', adapter, config));
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

async function useOnce(cache: AdapterCache, name: string): Promise<void> {
  cache.release(await cache.hold(reference(name)));
}

test('the least recently used adapter goes first', async () => {
  const { cache, reads } = countingCache(2 * bytes);
  for (const name of ['a', 'b', 'a', 'c', 'a', 'b']) await useOnce(cache, name);
  assert.deepEqual(reads, ['a', 'b', 'c', 'b']);
});

test('an adapter above the bound is kept until the next comes', async () => {
  const { cache, reads } = countingCache(bytes / 4);
  for (const name of ['a', 'a', 'b', 'a']) await useOnce(cache, name);
  assert.deepEqual(reads, ['a', 'b', 'a']);
});

test('simultaneous requests read once, and a failure is not remembered', async () => {
  const { cache, reads } = countingCache(2 * bytes);
  const [first, second] = await Promise.all([cache.hold(reference('a')), cache.hold(reference('a'))]);
  assert.equal(first, second);
  await assert.rejects(cache.hold(reference('bad')), { code: 'adapter_invalid' });
  await assert.rejects(cache.hold(reference('bad')), { code: 'adapter_invalid' });
  assert.deepEqual(reads, ['a', 'bad', 'bad']);
});

test('an adapter that was dropped gives its memory to the next, once nobody uses it', async () => {
  const owners = new Map<ArrayBuffer | undefined, string>();
  const given: (string | undefined)[] = [];
  const cache = new AdapterCache(32 * bytes, ({ contentHash }, memory) => {
    given.push(owners.get(memory));
    const loaded = prepareAdapter(contentHash, adapter, config, memory);
    for (const own of memoryOf(loaded)) owners.set(own, contentHash);
    return Promise.resolve(loaded);
  });
  // The bound now leaves memory for one adapter.
  cache.resizeStacks(31 * bytes);
  const first = await cache.hold(reference('a'));
  await useOnce(cache, 'b');
  await useOnce(cache, 'c');
  assert.deepEqual(given, [undefined, undefined, undefined], 'b was kept until c had come, and a is used');
  await useOnce(cache, 'd');
  cache.release(first);
  await useOnce(cache, 'e');
  assert.deepEqual(given.slice(3), ['b', 'a']);
});

test('memory that waits for the next adapter is that of two at most, and a small part of the bound', async () => {
  for (const [maxBytes, expected] of [
    [48 * bytes, 2],
    [31 * bytes, 1],
    [15 * bytes, 0],
  ] as const) {
    let reused = 0;
    const cache = new AdapterCache(maxBytes, ({ contentHash }, memory) => {
      if (memory !== undefined) reused += 1;
      return Promise.resolve(prepareAdapter(contentHash, adapter, config));
    });
    const names = ['a', 'b', 'c', 'd'];
    for (const name of names) await useOnce(cache, name);
    // The adapter used last is kept, even beyond the bound.
    cache.resizeStacks(maxBytes);
    cache.resizeStacks(0);
    for (const name of ['e', 'f', 'g', 'h']) await useOnce(cache, name);
    assert.equal(reused, expected);
  }
});

test('whoever uses an adapter has it whole until the end, whoever else comes, goes, or is too late', async () => {
  const names = ['a', 'b', 'c', 'd'];
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(fc.tuple(fc.constantFrom(...names), fc.boolean(), fc.nat({ max: 3 })), { maxLength: 12 }),
      async (scheduler, uses) => {
        const cache = new AdapterCache(32 * bytes, async ({ contentHash }, memory) => {
          // Transfers the memory as a thread would, so that anybody who still holds it has nothing.
          const own = memory && structuredClone(memory, { transfer: [memory] });
          await scheduler.schedule(Promise.resolve(), contentHash);
          const loaded = prepareAdapter(contentHash, adapter, config, own);
          for (const { a } of loaded.groups.values()) a.fill(names.indexOf(contentHash));
          return loaded;
        });
        // The bound now leaves memory for one adapter, and spare memory for two.
        cache.resizeStacks(30.5 * bytes);
        const run = async (name: string, leavesEarly: boolean, turns: number): Promise<void> => {
          await scheduler.schedule(Promise.resolve());
          const held = cache.holdKept(reference(name)) ?? cache.hold(reference(name));
          // A user that leaves early gives the adapter back as soon as it is loaded.
          const own = await held;
          if (leavesEarly) {
            cache.release(own);
            return;
          }
          const { groups } = own;
          for (let turn = 0; turn < turns; turn += 1) {
            await scheduler.schedule(Promise.resolve());
            for (const { a } of groups.values()) assert.deepEqual(new Set(a), new Set([names.indexOf(name)]));
          }
          cache.release(own);
        };
        await scheduler.waitFor(Promise.all(uses.map((use) => run(...use))));
        assert.equal(cache.usedCount, 0);
      },
    ),
  );
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
      .map((group) => [group.name, [904, 0, 8], 912 * group.width, 912 * outputWidth(group)]),
  );
});

test('what the stacks of batches take is no memory for adapters', async () => {
  const { cache, reads } = countingCache(3 * bytes);
  for (const name of ['a', 'b', 'c']) await useOnce(cache, name);
  cache.resizeStacks(bytes);
  for (const name of ['c', 'b', 'a']) await useOnce(cache, name);
  assert.deepEqual(reads, ['a', 'b', 'c', 'a']);
  cache.resizeStacks(0);
  for (const name of ['b', 'c', 'a', 'b']) await useOnce(cache, name);
  assert.deepEqual(reads, ['a', 'b', 'c', 'a', 'c']);
});
