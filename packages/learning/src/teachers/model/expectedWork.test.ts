import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { after, before, test } from 'node:test';
import { startEngineHost, type EngineHost } from '@engraft/engine';
import { MeteredCalls } from '../../budget/calls.js';
import { Meter } from '../../budget/meter.js';
import { chunkForTeacher } from '../../teaching/teacherChunks.js';
import { baseRecipe } from '../../testing/recipe.js';
import { expectedOfModelTeacher } from './expectedWork.js';
import { modelTeacher } from './modelTeacher.js';
import { velona as content } from '../../testing/passages.js';

let engine: EngineHost;

before(async () => {
  const modelDir = fileURLToPath(new URL('../../../../../models/base', import.meta.url));
  engine = await startEngineHost({ modelDir, threads: 2 });
});
after(() => engine.close());

test('what a model that teaches itself reads and writes is about what is expected', async () => {
  const meter = new Meter({
    max_compute_microusd: 50_000_000,
    input_nanousd_per_token: 12_000,
    output_nanousd_per_token: 30_000,
    cached_input_nanousd_per_token: 2_500,
    training_nanousd_per_token: 36_000,
  });
  const calls = new MeteredCalls(engine, meter, undefined, undefined, 'a job');
  const teacher = modelTeacher(baseRecipe, null);
  const passage = { text: content, chunks: await chunkForTeacher(engine, content, 2048, baseRecipe) };
  const { factCount } = await teacher.measure(passage);
  const taught = await teacher.teach(calls, passage, { factCount, formsPerFact: 7 }, 7);
  await teacher.confirm(calls, passage, taught?.facts ?? []);

  const { input_tokens, cached_input_tokens, output_tokens } = meter.usage;
  const expected = await expectedOfModelTeacher(engine, baseRecipe, passage);
  const isAbout = (actual: number, wanted: number): boolean => actual < 3 * wanted && wanted < 3 * actual;
  assert.ok(isAbout(output_tokens, expected.writtenTokens), `${output_tokens} of ${expected.writtenTokens}`);
  const read = input_tokens - cached_input_tokens;
  assert.ok(isAbout(read, expected.readTokens), `${read} of ${expected.readTokens}`);
});
