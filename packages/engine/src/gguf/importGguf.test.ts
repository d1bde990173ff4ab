/** Importing a GGUF file gives the model and the tokenizer that `transformers` reads from it. */
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { openCheckpoint } from '../checkpoint/checkpoint.js';
import { JsonFields } from '../checkpoint/jsonFields.js';
import { readModelConfig } from '../checkpoint/modelConfig.js';
import { readHeaderFrom } from '../checkpoint/safetensors.js';
import { loadWeights } from '../checkpoint/weightFiles.js';
import { EngineError } from '../engine.js';
import { greatestDifference, readTensors, temporaryFolder } from '../testing/fixtures.js';
import { ggufModels, ggufFixture, ggufReading } from '../testing/ggufFixtures.js';
import { CachedBatch } from '../testing/runs.js';
import { ChatTokenizer } from '../tokenizer/chatTokenizer.js';
import { TextCodec } from '../tokenizer/textCodec.js';
import { importFolder, importGguf, type ImportedModel, type ImportOptions } from './importGguf.js';

/** The logits go up to about 10, where float32 numbers are 1e-6 apart. */
const tolerance = 2e-5;

async function imported(
  t: TestContext,
  name: string,
  options: Omit<ImportOptions, 'file' | 'folder'> = {},
): Promise<ImportedModel> {
  return importGguf({ file: ggufFixture(`${name}.gguf`), folder: join(await temporaryFolder(t), name), ...options });
}

/** The greatest difference between the logits and those of `transformers`, over all tokens. */
async function logitsDifference(folder: string, name: string): Promise<number> {
  const { decoder: config } = await readModelConfig(folder);
  const { tokens } = ggufReading(name);
  const expected = readTensors(ggufFixture(`${name}.safetensors`)).get('logits')?.data ?? assert.fail();
  const batch = await CachedBatch.open({ config, weights: await loadWeights(folder, config) }, [null]);
  let greatest = 0;
  for (const [index, token] of tokens.entries()) {
    const [logits] = await batch.append([[token]]);
    const [start, end] = [index, index + 1].map((each) => each * config.vocabularySize);
    greatest = Math.max(greatest, greatestDifference(logits ?? [], expected.subarray(start, end)));
  }
  return greatest;
}

for (const name of ggufModels) {
  suite(`${name}.gguf`, () => {
    test('gives the logits of transformers', async (t) => {
      const { folder } = await imported(t, name);
      assert.ok((await logitsDifference(folder, name)) <= tolerance);
    });

    test('gives the tokens of transformers', async (t) => {
      const { folder } = await imported(t, name);
      const { texts, conversation } = ggufReading(name);
      const files = ['tokenizer.json', 'tokenizer_config.json'].map((file) =>
        JsonFields.read(join(folder, file), file),
      );
      const [tokenizerJson, tokenizerConfig] = await Promise.all(files);
      const codec = new TextCodec(tokenizerJson!, tokenizerConfig!, []);
      for (const { text, ids } of texts) assert.deepEqual(codec.encode(text), ids, JSON.stringify(text));
      const tokenizer = await ChatTokenizer.load(folder);
      assert.equal(tokenizer.render(conversation), conversation.rendered);
      assert.deepEqual(tokenizer.encodePrompt(conversation), conversation.ids);
    });

    test('is opened as any other checkpoint, and nothing else is left', async (t) => {
      const model = await imported(t, name);
      const { description } = await openCheckpoint(model.folder);
      assert.equal(description.architecture, model.architecture);
      assert.equal(description.parameters, model.parameters);
      assert.equal(description.contextLength, model.contextLength);
      assert.equal((await stat(join(model.folder, 'model.safetensors'))).size, model.weightBytes);
      assert.deepEqual(await readdir(join(model.folder, '..')), [name]);
    });
  });
}

async function tensorTypes(folder: string): Promise<ReadonlySet<string>> {
  const bytes = await readFile(join(folder, 'model.safetensors'));
  const entries = readHeaderFrom(bytes, { code: 'checkpoint_invalid', file: folder });
  return new Set(entries.map(({ type }) => type));
}

void test('numbers keep the smallest type that holds them, unless all are to be rounded to F16', async (t) => {
  assert.deepEqual(await tensorTypes((await imported(t, 'qwen2')).folder), new Set(['F32', 'F16']));
  assert.deepEqual(await tensorTypes((await imported(t, 'qwen3')).folder), new Set(['F32', 'BF16']));
  const rounded = await imported(t, 'qwen3', { precision: 'F16' });
  assert.deepEqual(await tensorTypes(rounded.folder), new Set(['F16']));
  const difference = await logitsDifference(rounded.folder, 'qwen3');
  assert.ok(difference > tolerance && difference < 0.05, String(difference));
});

void test('generation ends with the tokens that the file names', async (t) => {
  const { folder } = await imported(t, 'llama');
  const config = await JsonFields.read(join(folder, 'generation_config.json'), 'generation_config.json');
  const { stopTokens } = await ChatTokenizer.load(folder);
  assert.deepEqual(stopTokens, new Set([config.integer('eos_token_id')]));
});

void test('progress is told in bytes of the tensors, up to all of them', async (t) => {
  const seen: number[] = [];
  let total = 0;
  await imported(t, 'llama', {
    onProgress: (progress) => {
      seen.push(progress.done);
      total = progress.total;
    },
  });
  assert.ok(seen.length > 10);
  assert.deepEqual(
    seen,
    seen.toSorted((a, b) => a - b),
  );
  assert.equal(seen.at(-1), total);
});

void test('a cancelled import leaves nothing', async (t) => {
  const folder = await temporaryFolder(t);
  const cancelled = new AbortController();
  const options = { onProgress: () => cancelled.abort(), signal: cancelled.signal };
  const file = ggufFixture('llama.gguf');
  await assert.rejects(
    importGguf({ file, folder: join(folder, 'out'), ...options }),
    isRefusal('cancelled', /cancelled/),
  );
  assert.deepEqual(await readdir(folder), []);
});

void test('a folder that is there is not touched', async (t) => {
  const folder = join(await temporaryFolder(t), 'taken');
  await mkdir(folder);
  const file = ggufFixture('llama.gguf');
  await assert.rejects(importGguf({ file, folder }), isRefusal('invalid_request', /taken exists already/));
  assert.deepEqual(await readdir(folder), []);
});

void test('a file is imported beside itself unless another folder is named', () => {
  assert.equal(importFolder('/models/Some-1B.Q4_K_M.gguf'), '/models/Some-1B.Q4_K_M');
  assert.equal(importFolder('/models/upper.GGUF'), '/models/upper');
  assert.equal(importFolder('/models/plain'), '/models/plain');
});

function isRefusal(code: EngineError['code'], message: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof EngineError && error.code === code && message.test(error.message);
}
