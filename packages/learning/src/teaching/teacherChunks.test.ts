import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startEngineHost, type Engine } from '@engraft/engine';
import { chooseCandidates, findCandidates, type Candidate } from '../questions/candidates.js';
import type { Chunk } from '../text/chunk.js';
import { parsePassageSet } from '../measuring/passageSet.js';
import { plainText } from '../text/plainText.js';
import { readingPrompt } from '../prompts.js';
import { recipe } from '../recipe.js';
import { chunkForTeacher } from './teacherChunks.js';

const modelDir = fileURLToPath(new URL('../../../../models/base', import.meta.url));

let engine: Engine;
let content: string;
let chunks: readonly Chunk[];

before(async () => {
  engine = await startEngineHost({ modelDir, threads: 1 });
  const file = new URL('../../../../bench/learning/handbooks.jsonl', import.meta.url);
  const set = parsePassageSet(await readFile(file, 'utf8'));
  assert.ok(set.kind === 'read' && set.passages[0] !== undefined);
  content = plainText(set.passages[0].passage);
  chunks = await chunkForTeacher(engine, content, (await engine.describe()).contextLength);
});
after(() => engine.close());

test('the shipped model reads sixteen thousand characters in chunks of similar length and a rest, within its limit', async () => {
  assert.ok(content.length > 15_000);
  assert.equal(chunks.map(({ text }) => text).join(''), content);
  const lengths = await Promise.all(chunks.map(({ text }) => engine.countTokens(readingPrompt(text, ''))));
  assert.ok(Math.max(...lengths) <= recipe.chunkMaxTokens, lengths.join(' '));
  assert.ok(Math.min(...lengths.slice(0, -1)) > recipe.chunkMaxTokens / 2, lengths.join(' '));
});

test('and every chunk has its share of what is asked for', async () => {
  const { candidates } = await findCandidates(content, chunks);
  const chosen = chooseCandidates(candidates, 100);
  assert.equal(chosen.length, 100);
  for (const index of chunks.keys()) {
    const ofChunk = (all: readonly Candidate[]): number => all.filter(({ chunk }) => chunk === index).length;
    const share = (100 * ofChunk(candidates)) / candidates.length;
    assert.ok(Math.abs(ofChunk(chosen) - share) <= 1, `chunk ${index}: ${ofChunk(chosen)} of ${share.toFixed(1)}`);
  }
});
