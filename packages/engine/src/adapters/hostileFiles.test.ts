/** Every adapter file, however damaged, is read whole or refused by an error that names the file. */
import assert from 'node:assert/strict';
import { readFile, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { loadAdapter } from './loadedAdapter.js';
import { freshMatrices, toAdapter } from '../lora/parameters.js';
import { openTrainingSession } from '../lora/trainingSession.js';
import { moduleBytes, moduleTensorSpecs } from '../model/weights.js';
import { unmanagedWeights, referenceTo, temporaryFolder, tinyConfig } from '../testing/fixtures.js';
import { damagedBytes, damagedJson, jsonText, readOrRefused } from '../testing/hostile.js';
import { readAdapter, writeAdapter } from './adapterFolder.js';
import { loraModules, type LoraHyperparameters } from './loraModules.js';
import { maxRank, parsePeftConfig, serializePeftConfig } from './peftConfig.js';

const lora: LoraHyperparameters = {
  rank: 4,
  alpha: 6,
  targets: ['q_proj', 'mlp.up_proj', 'down_proj'],
  layers: [0, 1],
  rankPattern: new Map([['layers.0.mlp.up_proj', 2]]),
  alphaPattern: new Map([['q_proj', 3]]),
  rsLora: true,
};

void test('adapter_config.json with any part changed is read or refused, and no rank is absurd', async () => {
  const original = JSON.parse(serializePeftConfig(lora, 'base').toString()) as unknown;
  await fc.assert(
    fc.asyncProperty(damagedJson(original), async (config) => {
      const read = (): ReturnType<typeof loraModules> =>
        loraModules(tinyConfig, parsePeftConfig(Buffer.from(jsonText(config))));
      const modules = await readOrRefused(read, ['adapter_invalid'], /^adapter_config\.json/);
      for (const { rank, scale } of modules ?? []) {
        assert.ok(Number.isInteger(rank) && rank >= 1 && rank <= maxRank);
        assert.ok(Number.isFinite(scale) && scale > 0);
      }
    }),
    { numRuns: 400, includeErrorInReport: true },
  );
});

void test('an adapter with bytes of either file changed holds every matrix of its modules, or is refused', async (t) => {
  const adapter = toAdapter(freshMatrices(tinyConfig, 2, 1), { rank: 2, alpha: 3 });
  const { folder } = await writeAdapter(path.join(await temporaryFolder(t), 'adapter'), adapter, 'base');
  for (const name of ['adapter_config.json', 'adapter_model.safetensors']) {
    const file = path.join(folder, name);
    const original = await readFile(file);
    await fc.assert(
      fc.asyncProperty(damagedBytes(original), async (damaged) => {
        await writeFile(file, damaged);
        const read = await readOrRefused(
          () => readAdapter(referenceTo(folder), tinyConfig),
          ['adapter_invalid'],
          /adapter_(config\.json|model\.safetensors)/,
        );
        if (read === undefined) return;
        const specs = moduleTensorSpecs(tinyConfig, loraModules(tinyConfig, read));
        assert.deepEqual(
          specs.map((spec) => [spec.name, spec.shape.join()]),
          [...read.matrices].map(([matrix, { shape }]) => [matrix, shape.join()]),
        );
      }),
      { numRuns: 80, includeErrorInReport: true },
    );
    await writeFile(file, original);
  }
});

void test('an adapter that there is no room for is refused unread, with what is made of it', async (t) => {
  const lora = { rank: 2, alpha: 3 };
  const adapter = toAdapter(freshMatrices(tinyConfig, 2, 1), lora);
  const reference = await writeAdapter(path.join(await temporaryFolder(t), 'adapter'), adapter, null);
  const preparedBytes = (): number => 1000;
  const bytes = 2 * moduleBytes(tinyConfig, loraModules(tinyConfig, lora)) + 1000;
  assert.deepEqual(await readAdapter(reference, tinyConfig, { preparedBytes, memoryBytes: bytes }), adapter);
  await assert.rejects(readAdapter(reference, tinyConfig, { preparedBytes, memoryBytes: bytes - 1 }), {
    name: 'EngineError',
    code: 'memory_exceeded',
    message: new RegExp(`adapter_model\\.safetensors: .* up to ${bytes} bytes of memory, and there are ${bytes - 1}$`),
  });
});

void test('nor is one read that no machine has room for, whoever asks for it', async (t) => {
  const folder = path.join(await temporaryFolder(t), 'adapter');
  // The configuration allows tebibytes of matrices, so the file may have any size. Its holes take no space on the disk.
  const lora = { rank: maxRank, alpha: 3 };
  const config = { ...tinyConfig, layers: 128, hiddenSize: 2 ** 19, heads: 2 ** 15, ffnSize: 2 ** 19 };
  assert.ok(moduleBytes(config, loraModules(config, lora)) > 2 ** 41);
  await writeAdapter(folder, { ...lora, matrices: new Map() }, null);
  await truncate(path.join(folder, 'adapter_model.safetensors'), 2 ** 33);
  const reference = { folder, contentHash: 'sha256:0' };
  const refused = { name: 'EngineError', code: 'memory_exceeded', message: /adapter_model\.safetensors: .* bytes/ };
  await assert.rejects(readAdapter(reference, config), refused);
  await assert.rejects(loadAdapter(reference, config), refused);
  const model = { config, weights: unmanagedWeights({}), name: null, threads: 1 };
  await assert.rejects(openTrainingSession(model, { parent: reference, rank: 1, alpha: 1, seed: 1 }), refused);
});
