/** Every checkpoint file, however damaged, is read or refused by an error that names the file. */
import assert from 'node:assert/strict';
import { mkdir, readFile, rm, rmdir, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import type { DecoderConfig } from '../model/config.js';
import { decoderWeightShapes, weightCount } from '../model/weights.js';
import type { ChatPrompt } from '../types.js';
import { ChatTokenizer } from '../tokenizer/chatTokenizer.js';
import { damagedBytes, damagedJson, jsonText, readOrRefused } from '../testing/hostile.js';
import { canMakeNamedPipe, makeNamedPipe } from '../testing/namedPipe.js';
import { tinyConfig, withRandomCheckpoint } from '../testing/randomCheckpoint.js';
import { readBoundedFile } from '../support/boundedFile.js';
import { elementCount } from '../support/numbers.js';
import { openCheckpoint } from './checkpoint.js';
import { JsonFields, type JsonObject } from './jsonFields.js';
import { parseModelConfig, readModelConfig } from './modelConfig.js';
import { readHeaderFrom, readTensorFrom, serializeSafetensors } from './safetensors.js';
import { loadWeights } from './weightFiles.js';

const fullConfig = {
  ...tinyConfig,
  sliding_window: 64,
  use_sliding_window: true,
  max_window_layers: 1,
  layer_types: ['full_attention', 'sliding_attention'],
  rope_parameters: {
    rope_type: 'yarn',
    rope_theta: 10_000,
    factor: 4,
    original_max_position_embeddings: 128,
    beta_fast: 32,
    beta_slow: 1,
    mscale: 1,
    mscale_all_dim: 1,
    truncate: true,
    attention_factor: 1,
  },
};

void test('config.json with any part changed is read or refused, and asks for no absurd memory', async () => {
  await fc.assert(
    fc.asyncProperty(damagedJson(fullConfig), async (config) => {
      const parsed = await readOrRefused(
        () => parseModelConfig(new JsonFields('config.json', JSON.parse(jsonText(config)) as JsonObject)),
        ['checkpoint_invalid'],
        /^config\.json/,
      );
      if (parsed === undefined) return;
      // The rotary tables are made from the configuration alone.
      const { contextLength, headDim, layers, ropeScaling } = parsed.decoder;
      assert.ok(Math.min(contextLength, 16_384) * headDim <= 2 ** 24);
      assert.ok(layers <= 1024);
      for (const value of Object.values(ropeScaling)) assert.ok(typeof value !== 'number' || Number.isFinite(value));
    }),
    { numRuns: 400, includeErrorInReport: true },
  );
});

void test('a safetensors header with any part changed is read within its file, or refused', async () => {
  const sample = serializeSafetensors(
    [
      ['a', { shape: [2, 2], data: Float32Array.of(1, -2, 3.5, 0) }],
      ['b', { shape: [3], data: Float32Array.of(7, 8, 9) }],
    ],
    { format: 'pt' },
  );
  const end = 8 + Number(sample.readBigUInt64LE());
  const header = JSON.parse(sample.subarray(8, end).toString()) as unknown;
  const files = fc.oneof(
    damagedBytes(sample),
    damagedJson(header).map((damaged) => {
      const json = Buffer.from(jsonText(damaged));
      const length = Buffer.alloc(8);
      length.writeBigUInt64LE(BigInt(json.byteLength));
      return Buffer.concat([length, json, sample.subarray(end)]);
    }),
  );
  const context = { code: 'checkpoint_invalid', file: 'model.safetensors' } as const;
  await fc.assert(
    fc.asyncProperty(files, async (bytes) => {
      const entries = await readOrRefused(() => readHeaderFrom(bytes, context), [context.code], /^model\.safetensors/);
      for (const entry of entries ?? []) {
        assert.ok(entry.end <= bytes.byteLength);
        const size = elementCount(entry.shape);
        assert.equal(readTensorFrom(bytes, entry).length, size);
      }
    }),
    { numRuns: 400, includeErrorInReport: true },
  );
});

void test('a tensor that is named twice is refused, because its first bytes belong to nothing', () => {
  const entry = (from: number) => `{"dtype":"F32","shape":[1],"data_offsets":[${from},${from + 4}]}`;
  const json = Buffer.from(`{"w":${entry(0)},"w":${entry(4)}}`);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.byteLength));
  const bytes = Buffer.concat([length, json, Buffer.alloc(8)]);
  const context = { code: 'checkpoint_invalid', file: 'file' } as const;
  assert.throws(() => readHeaderFrom(bytes, context), { code: 'checkpoint_invalid', message: /gap/ });
});

const names = /\.(json|safetensors|jinja)|chat template/;
const prompt: ChatPrompt = {
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Who <think> built it?' },
  ],
};

void test('a tokenizer with any part changed counts tokens, or is refused', async () => {
  await withRandomCheckpoint(async (folder) => {
    const model = path.join(folder, 'model');
    for (const name of ['tokenizer.json', 'tokenizer_config.json', 'generation_config.json']) {
      const original = JSON.parse(await readFile(path.join(model, name), 'utf8')) as unknown;
      await fc.assert(
        fc.asyncProperty(damagedJson(original), async (damaged) => {
          await writeFile(path.join(model, name), jsonText(damaged));
          const tokenizer = await readOrRefused(() => ChatTokenizer.load(model), ['checkpoint_invalid'], names);
          if (tokenizer === undefined) return;
          await readOrRefused(
            () => tokenizer.decode(tokenizer.encodePrompt(prompt)),
            ['invalid_request', 'checkpoint_invalid'],
            /\w/,
          );
        }),
        { numRuns: 30, includeErrorInReport: true },
      );
      await writeFile(path.join(model, name), JSON.stringify(original));
    }
  });
});

void test('a folder with bytes of any file changed is opened or refused, naming a file', async () => {
  await withRandomCheckpoint(async (folder) => {
    const model = path.join(folder, 'model');
    for (const name of ['config.json', 'model.safetensors', 'tokenizer_config.json', 'chat_template.jinja']) {
      const original = await readFile(path.join(model, name));
      await fc.assert(
        fc.asyncProperty(damagedBytes(original), async (damaged) => {
          await writeFile(path.join(model, name), damaged);
          await readOrRefused(() => openCheckpoint(model), ['checkpoint_invalid'], names);
        }),
        { numRuns: 30, includeErrorInReport: true },
      );
      await writeFile(path.join(model, name), original);
    }
  });
});

void test('a pipe, a folder or a file of absurd size in the place of a file is refused unread', async () => {
  await withRandomCheckpoint(async (folder) => {
    const model = path.join(folder, 'model');
    const refuses = (message: RegExp) =>
      assert.rejects(openCheckpoint(model), { name: 'EngineError', code: 'checkpoint_invalid', message });
    for (const name of ['model.safetensors', 'chat_template.jinja', 'tokenizer.json', 'config.json']) {
      const file = path.join(model, name);
      const original = await readFile(file);
      const pattern = name.replace('.', '\\.');
      await rm(file);
      if (canMakeNamedPipe) {
        makeNamedPipe(file);
        await refuses(new RegExp(`${pattern} is not a file`));
        await rm(file);
      }
      await mkdir(file);
      await refuses(new RegExp(`${pattern} is not a file`));
      await rmdir(file);
      await writeFile(file, original);
      // The added bytes are a hole, which takes no space on the disk.
      await truncate(file, 2 ** 32);
      await refuses(
        name === 'model.safetensors' ? /tensors end at byte/ : new RegExp(`${pattern} has 4294967296 bytes`),
      );
      await rm(file);
      await writeFile(file, original);
    }
    for (const name of ['added_tokens.json', 'chat_template.json', 'additional_chat_templates/tool_use.jinja']) {
      const file = path.join(model, name);
      await mkdir(file, { recursive: true });
      await refuses(new RegExp(`^${name.replace('.', '\\.')} is not a file`));
      await rmdir(file);
      if (!canMakeNamedPipe) continue;
      makeNamedPipe(file);
      await refuses(new RegExp(`^${name.replace('.', '\\.')} is not a file`));
      await rm(file);
    }
    await openCheckpoint(model);
  });
});

void test('weights that the machine has no room for are refused unread, though config and file agree', async (t) => {
  await withRandomCheckpoint(async (folder, config) => {
    const model = path.join(folder, 'model');
    const bytes = weightCount(config) * Float32Array.BYTES_PER_ELEMENT;
    assert.equal((await loadWeights(model, config, bytes)).size, decoderWeightShapes(config).size);
    const message = `model.safetensors: the weights take ${bytes} bytes of memory, and there are ${bytes - 1}`;
    await assert.rejects(loadWeights(model, config, bytes - 1), { code: 'checkpoint_invalid', message });

    // The file claims two tebibytes of weights but is a hole, which takes no space on the disk.
    const changes = { hidden_size: 2 ** 17, vocab_size: 2 ** 21, num_attention_heads: 1, num_key_value_heads: 1 };
    await writeFile(
      path.join(model, 'config.json'),
      JSON.stringify({ ...tinyConfig, ...changes, tie_word_embeddings: false }),
    );
    const { decoder } = await readModelConfig(model);
    try {
      await writeHollowWeights(path.join(model, 'model.safetensors'), decoder);
    } catch (error) {
      const isRefused =
        error instanceof Error && 'code' in error && /^(?:ENOSPC|EFBIG|EINVAL)$/.test(String(error.code));
      if (!isRefused) throw error;
      t.skip('the file system keeps no such file');
      return;
    }
    await assert.rejects(openCheckpoint(model), {
      name: 'EngineError',
      code: 'checkpoint_invalid',
      message: /^model\.safetensors: the weights take 2\d{12} bytes of memory, and there are \d+$/,
    });
  });
});

/** Writes a file with a correct header and a hole in place of the weights. */
async function writeHollowWeights(file: string, config: DecoderConfig): Promise<void> {
  const entries: Record<string, unknown> = {};
  let end = 0;
  for (const [name, shape] of decoderWeightShapes(config)) {
    const start = end;
    end += elementCount(shape) * Uint16Array.BYTES_PER_ELEMENT;
    entries[name] = { dtype: 'F16', shape, data_offsets: [start, end] };
  }
  const header = Buffer.from(JSON.stringify(entries));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.byteLength));
  await writeFile(file, Buffer.concat([length, header]));
  await truncate(file, length.byteLength + header.byteLength + end);
}

void test(
  'a file that lies about its size is read no further than that',
  { skip: process.platform !== 'linux' },
  async () => {
    // The kernel reports size 0 for this file.
    const bytes = await readBoundedFile('/proc/self/status', { code: 'checkpoint_invalid', file: 'status' }, 16);
    assert.equal(bytes?.byteLength, 0);
  },
);
