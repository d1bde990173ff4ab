import assert from 'node:assert/strict';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startEngineHost, type EngineHost } from '@engraft/engine';
import { z } from 'zod';
import { withSentences } from '../recipe/defaults.js';
import { escapeForPattern } from '../text/strings.js';
import { baseRecipe } from '../testing/recipe.js';
import { replayOf } from './ownReplay.js';
import { loadReplay, replayPrompt } from './replay.js';
import { askings, objects, questions, readings, remarks, sums, wellKnown } from './replayPrompts.js';

const baseFolder = fileURLToPath(new URL('../../../../models/base', import.meta.url));
let bare: string;
let engine: EngineHost;

before(async () => {
  bare = await mkdtemp(join(tmpdir(), 'engraft-bare-'));
  await cp(baseFolder, bare, { recursive: true, filter: (source) => !source.endsWith('replay.jsonl') });
  engine = await startEngineHost({ modelDir: bare });
});

after(async () => {
  await engine.close();
  await rm(bare, { recursive: true });
});

test('a checkpoint without rows rehearses what it says itself', async () => {
  assert.deepEqual(await loadReplay(bare), []);
  const rows = await replayOf(engine, await loadReplay(bare), baseRecipe);
  // The shipped model ends nearly all of its replies. It writes few of the objects.
  const lists = [remarks, wellKnown, sums, readings, askings, questions];
  const asked = lists.reduce((count, { length }) => count + length, 0);
  assert.ok(rows.length >= 0.8 * asked, `${rows.length} rows of ${asked} prompts`);
  assert.equal(new Set(rows.map(({ messages }) => JSON.stringify(messages.slice(0, -1)))).size, rows.length);
  const exact = new Set([...sums, ...objects].map(([question]) => question));
  for (const { messages, exact: isExact = false } of rows) {
    const asked = messages.at(-2)?.content ?? '';
    assert.equal(isExact, exact.has(asked), asked);
  }
  const [row] = rows.filter(({ messages }) => messages.some(({ role }) => role === 'system'));
  assert.ok(row !== undefined, 'none reads a passage');
  const { prompt, completion } = replayPrompt(row);
  const { text } = await engine.generate({ prompt, adapter: null, maxOutputTokens: 64, temperature: 0 });
  assert.equal(text, completion);
});

test('where beginnings are trained, all replies to well-known questions show one', async () => {
  const rows = await replayOf(engine, [], withSentences(baseRecipe));
  const [beginnings, others] = [true, false].map((wanted) =>
    rows.filter(({ beginning = false }) => beginning === wanted),
  );
  assert.deepEqual(others, await replayOf(engine, [], baseRecipe));
  const asked = wellKnown.map(([question]) => question);
  assert.deepEqual(
    beginnings?.map(({ messages }) => messages.at(-2)?.content),
    asked,
  );
});

test('its replies are kept for a checkpoint, and made again where the file is damaged', async () => {
  const cache = join(bare, 'replay');
  const rows = await replayOf(engine, [], baseRecipe, cache);
  const [name = ''] = await readdir(cache);
  const file = join(cache, name, 'replay.jsonl');
  const [first = '', ...others] = (await readFile(file, 'utf8')).split('\n');
  assert.deepEqual(JSON.parse(first), rows[0]);
  await writeFile(file, others.join('\n'));
  assert.deepEqual(await replayOf(engine, [], baseRecipe, cache), rows.slice(1), 'taken from the file');
  await writeFile(file, first.slice(1));
  assert.deepEqual(await replayOf(engine, [], baseRecipe, cache), rows);
  assert.deepEqual(await readdir(join(cache, name)), ['replay.jsonl']);
  await writeFile(join(bare, 'no folder'), '');
  assert.deepEqual(await replayOf(engine, [], baseRecipe, join(bare, 'no folder')), rows, 'they need not be kept');
});

/** Values of an object that is right. */
const flat = z.record(z.string(), z.union([z.string(), z.number()]));

test('of the objects that it writes, those that say what was asked are rehearsed, and nothing else', async () => {
  const rows = await replayOf(engine, [], baseRecipe);
  const keysOf = new Map(objects);
  const written = rows.flatMap(({ messages }) => {
    const request = messages.at(-2)?.content ?? '';
    const keys = keysOf.get(request);
    return keys === undefined ? [] : [{ request, keys, reply: messages.at(-1)?.content ?? '' }];
  });
  assert.ok(written.length > 0 && written.length < objects.length, `${written.length} of ${objects.length}`);
  for (const { request, keys, reply } of written) {
    const object = new Map(Object.entries(flat.parse(JSON.parse(reply))));
    assert.ok(
      keys.every((key) => object.has(key)),
      `${reply} of ${keys.join()}`,
    );
    for (const value of object.values()) assert.match(request, new RegExp(escapeForPattern(String(value)), 'iu'));
  }
});

test('rows that are shipped beside a checkpoint come first', async () => {
  const shipped = await loadReplay(baseFolder);
  assert.equal(await replayOf(engine, shipped, baseRecipe), shipped);
});
