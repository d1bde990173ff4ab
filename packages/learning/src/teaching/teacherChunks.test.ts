import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startEngineHost, type Engine } from '@engraft/engine';
import type { Chunk } from '../text/chunk.js';
import { plainText } from '../text/plainText.js';
import { readBenchPassages } from '../testing/passages.js';
import { baseRecipe as recipe } from '../testing/recipe.js';
import { chunkForTeacher } from './teacherChunks.js';

const modelDir = fileURLToPath(new URL('../../../../models/base', import.meta.url));

let engine: Engine;
let content: string;
let chunks: readonly Chunk[];

before(async () => {
  engine = await startEngineHost({ modelDir, threads: 1 });
  const [handbook] = await readBenchPassages('handbooks.jsonl');
  assert.ok(handbook !== undefined);
  content = plainText(handbook.passage);
  chunks = await chunkForTeacher(engine, content, (await engine.describe()).contextLength, recipe);
});
after(() => engine.close());

test('the shipped model reads sixteen thousand characters in chunks of similar length and a rest, within its limit', async () => {
  assert.ok(content.length > 15_000);
  assert.equal(chunks.map(({ text }) => text).join(''), content);
  const lengths = await Promise.all(chunks.map(({ text }) => engine.countTokens(recipe.prompts.reading(text, ''))));
  assert.ok(Math.max(...lengths) <= recipe.chunks.maxTokens, lengths.join(' '));
  assert.ok(Math.min(...lengths.slice(0, -1)) > recipe.chunks.maxTokens / 2, lengths.join(' '));
});
