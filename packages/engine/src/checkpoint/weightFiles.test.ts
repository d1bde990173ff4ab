import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { embeddingName } from '../model/weights.js';
import { tinyConfig, withRandomCheckpoint } from '../testing/randomCheckpoint.js';
import { openCheckpoint } from './checkpoint.js';
import { serializeSafetensors, type FloatTensor } from './safetensors.js';
import { loadWeights } from './weightFiles.js';

const refused = (message: RegExp) => ({ name: 'EngineError', code: 'checkpoint_invalid', message });

void test('a tied head may be in the file as well, another head may not', async () => {
  await withRandomCheckpoint(async (folder, config) => {
    const model = join(folder, 'model');
    const weights = await loadWeights(model, config);
    const { shape, data } = weights.get(embeddingName)!;
    const write = (head: FloatTensor): Promise<void> =>
      writeFile(join(model, 'model.safetensors'), serializeSafetensors([...weights, ['lm_head.weight', head]], {}));
    await write({ shape, data });
    assert.deepEqual(await loadWeights(model, config), weights);
    for (const index of [0, data.length - 1]) {
      await write({ shape, data: data.with(index, 7) });
      const message =
        /^config\.json: tie_word_embeddings must be false, as lm_head\.weight differs from .*, but is true$/;
      await assert.rejects(openCheckpoint(model), refused(message));
    }
    await write({ shape: shape.toReversed(), data });
    await assert.rejects(openCheckpoint(model), refused(/lm_head\.weight has shape \[32, 384\]/));
    await writeFile(join(model, 'config.json'), JSON.stringify({ ...tinyConfig, tie_word_embeddings: false }));
    await write({ shape, data: data.with(0, 7) });
    await openCheckpoint(model);
  });
});

void test('a tied head may be of another type, if its numbers are the same', async () => {
  await withRandomCheckpoint(async (folder, config) => {
    const model = join(folder, 'model');
    const weights = new Map(await loadWeights(model, config));
    const { shape, data } = weights.get(embeddingName)!;
    // BF16 is the upper half of a float32.
    const upper = Uint16Array.from(new Uint32Array(data.buffer, data.byteOffset, data.length), (bits) => bits >>> 16);
    const rounded = new Float32Array(Uint32Array.from(upper, (bits) => bits << 16).buffer);
    const file = serializeSafetensors(weights.set(embeddingName, { shape, data: rounded }), {});
    const start = 8 + Number(file.readBigUInt64LE());
    const header = JSON.parse(file.subarray(8, start).toString()) as Record<string, unknown>;
    const end = file.byteLength - start;
    header['lm_head.weight'] = { dtype: 'BF16', shape, data_offsets: [end, end + upper.byteLength] };
    const json = Buffer.from(JSON.stringify(header));
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(json.byteLength));
    const write = (): Promise<void> =>
      writeFile(
        join(model, 'model.safetensors'),
        Buffer.concat([length, json, file.subarray(start), new Uint8Array(upper.buffer)]),
      );
    await write();
    assert.deepEqual(await loadWeights(model, config), weights);
    upper[5]! ^= 1;
    await write();
    await assert.rejects(openCheckpoint(model), refused(/tie_word_embeddings must be false/));
  });
});
