import assert from 'node:assert/strict';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startEngineHost, type EngineHost } from '@engraft/engine';
import { baseRecipe } from '../testing/recipe.js';
import { replayOf } from './ownReplay.js';
import { loadReplay, replayPrompt } from './replay.js';

const BASE = fileURLToPath(new URL('../../../../models/base', import.meta.url));
let bare: string;
let engine: EngineHost;

before(async () => {
  bare = await mkdtemp(join(tmpdir(), 'engraft-bare-'));
  await cp(BASE, bare, { recursive: true, filter: (source) => !source.endsWith('replay.jsonl') });
  engine = await startEngineHost({ modelDir: bare });
});

after(async () => {
  await engine.close();
  await rm(bare, { recursive: true });
});

test('a checkpoint without rows rehearses what it says itself', async () => {
  assert.deepEqual(await loadReplay(bare), []);
  const rows = await replayOf(engine, await loadReplay(bare), baseRecipe);
  assert.ok(rows.length >= 40, `${rows.length} rows`);
  assert.equal(new Set(rows.map(({ messages }) => JSON.stringify(messages.slice(0, -1)))).size, rows.length);
  const [row] = rows.filter(({ messages }) => messages.some(({ role }) => role === 'system'));
  assert.ok(row !== undefined, 'none reads a passage');
  const { prompt, completion } = replayPrompt(row);
  const { text } = await engine.generate({ prompt, adapter: null, maxOutputTokens: 64, temperature: 0 });
  assert.equal(text, completion);
});

test('rows that are shipped beside a checkpoint come first', async () => {
  const shipped = await loadReplay(BASE);
  assert.equal(await replayOf(engine, shipped, baseRecipe), shipped);
});
