import assert from 'node:assert/strict';
import { readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { decoderWeightShapes, readWeights } from '../model/weights.js';
import { openCheckpoint } from './checkpoint.js';
import { loadWeights } from './weightFiles.js';
import { tinyConfig, withRandomCheckpoint } from '../testing/randomCheckpoint.js';
import { elementCount, sum } from '../support/numbers.js';
import { serializeSafetensors, type FloatTensor } from './safetensors.js';

suite('a checkpoint folder', () => {
  const invalid = (message: RegExp) => ({ name: 'EngineError', code: 'checkpoint_invalid', message });

  test('is described by its config and hashed over all its files', async () => {
    await withRandomCheckpoint(async (folder, config) => {
      const model = join(folder, 'model');
      const { description, weights } = await openCheckpoint(model);
      assert.equal(description.architecture, 'Qwen3ForCausalLM');
      assert.deepEqual([description.contextLength, description.vocabularySize], [512, 384]);
      const sizes = [...decoderWeightShapes(config).values()].map(elementCount);
      assert.equal(description.parameters, sum(sizes));
      assert.equal((await readWeights(weights, decoderWeightShapes(config))).size, sizes.length);
      assert.match(description.contentHash, /^sha256:[0-9a-f]{64}$/);
      assert.equal((await openCheckpoint(model)).description.contentHash, description.contentHash);
      await writeFile(join(model, 'chat_template.jinja'), '{{ messages[0].content }}');
      assert.notEqual((await openCheckpoint(model)).description.contentHash, description.contentHash);
    });
  });

  test('may be sharded', async () => {
    await withRandomCheckpoint(async (folder, config) => {
      const model = join(folder, 'model');
      const weights = await loadWeights(model, config);
      await rm(join(model, 'model.safetensors'));
      const names = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors'];
      const map: Record<string, string> = {};
      for (const [shard, name] of names.entries()) {
        const part = [...weights].filter((_, index) => index % 2 === shard);
        for (const [tensor] of part) map[tensor] = name;
        await writeFile(join(model, name), serializeSafetensors(part, {}));
      }
      const writeIndex = (weightMap: unknown): Promise<void> =>
        writeFile(join(model, 'model.safetensors.index.json'), JSON.stringify({ weight_map: weightMap }));
      await writeIndex(map);
      assert.deepEqual(await loadWeights(model, config), weights);
      await rename(join(model, names[1]!), join(model, 'away'));
      await assert.rejects(openCheckpoint(model), invalid(/model-00002-of-00002\.safetensors is missing/));
      await writeIndex({ ...map, x: '../../etc/shadow.safetensors' });
      await assert.rejects(openCheckpoint(model), invalid(/is not a file name/));
      await writeIndex({});
      await assert.rejects(
        openCheckpoint(model),
        invalid(/^model\.safetensors\.index\.json: weight_map must be .* is \{\}/),
      );
    });
  });

  test('is the single file where an index of shards lies beside it', async () => {
    await withRandomCheckpoint(async (folder) => {
      const model = join(folder, 'model');
      const { description } = await openCheckpoint(model);
      const stale = { weight_map: { 'model.norm.weight': 'model-00001-of-00002.safetensors' } };
      await writeFile(join(model, 'model.safetensors.index.json'), JSON.stringify(stale));
      assert.deepEqual((await openCheckpoint(model)).description, description);
    });
  });

  test('that is damaged is refused', async () => {
    await withRandomCheckpoint(async (folder, config) => {
      const model = join(folder, 'model');
      const file = join(model, 'model.safetensors');
      const intact = await readFile(file);
      const tensors = new Map<string, FloatTensor>(
        [...decoderWeightShapes(config)].map(([name, shape]) => [
          name,
          { shape, data: new Float32Array(elementCount(shape)) },
        ]),
      );
      const norm = 'model.norm.weight';
      const write = (changed: Iterable<readonly [string, FloatTensor]>): Promise<void> =>
        writeFile(file, serializeSafetensors(changed, {}));
      const refuses = (message: RegExp): Promise<void> => assert.rejects(openCheckpoint(model), invalid(message));

      await truncate(file, intact.byteLength - 1);
      await refuses(/model\.safetensors is not a valid safetensors file/);
      const absurd = Buffer.from(intact);
      absurd.writeBigUInt64LE(2n ** 60n);
      await writeFile(file, absurd);
      await refuses(/header length .* out of range/);
      await write(new Map([...tensors, [norm, { shape: [16], data: new Float32Array(16) }]]));
      await refuses(/model\.norm\.weight has shape \[16\], but config\.json asks for \[32\]/);
      await write([...tensors].filter(([name]) => name !== norm));
      await refuses(/tensors are missing: model\.norm\.weight/);
      await write([...tensors, ['model.norm.bias', { shape: [1], data: new Float32Array(1) }]]);
      await refuses(/model\.norm\.bias is not part of a qwen3 decoder/);
      await rm(file);
      await refuses(/model\.safetensors is missing/);
      await writeFile(join(model, 'config.json'), JSON.stringify({ ...tinyConfig, vocab_size: 100 }));
      await refuses(/vocab_size is 100, but the tokenizer uses 384 tokens/);
      await rm(join(model, 'config.json'));
      await refuses(/config\.json is missing/);
    });
  });
});
