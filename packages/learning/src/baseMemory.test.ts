import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { hashAdapterFolder, startEngineHost, type AdapterReference, type EngineHost } from '@engraft/engine';
import { BaseMemory, baseMemoryOf } from './baseMemory.js';
import { type MeteredCalls, type ScoreCall } from './budget/calls.js';
import { noUsage } from './budget/meter.js';
import { callsFor } from './testing/calls.js';

const modelDir = fileURLToPath(new URL('../../../models/base', import.meta.url));
let engine: EngineHost;
let folder: string;

before(async () => {
  engine = await startEngineHost({ modelDir, threads: 1 });
  folder = await mkdtemp(join(tmpdir(), 'engraft-memory-'));
});
after(async () => {
  await engine.close();
  await rm(folder, { recursive: true });
});

function callsWith(maxComputeMicrousd = 1e6): MeteredCalls {
  return callsFor(engine, maxComputeMicrousd);
}

const questions = ['What is the capital of France?', 'How are you?'];
const requests = questions.map((content) => {
  const prompt = { messages: [{ role: 'user', content } as const] };
  return { prompt, adapter: null, maxOutputTokens: 8, temperature: 0 };
});

function scoreCalls(adapter: AdapterReference | null = null): Promise<ScoreCall[]> {
  const encoded = requests.map(({ prompt }) => engine.encode(prompt, 'I do not know.'));
  return Promise.all(encoded.map(async (sequence) => ({ sequence: await sequence, adapter, topK: 3 })));
}

async function adapter(): Promise<AdapterReference> {
  const teacher = join(modelDir, 'teacher');
  return { folder: teacher, contentHash: (await hashAdapterFolder(teacher)) ?? '' };
}

test('what one job asked of base costs the next one nothing', async () => {
  const memory = await baseMemoryOf(engine, join(folder, 'shared'));
  const first = callsWith();
  const replies = await memory.generate(first, requests, 1);
  const scores = await memory.score(first, await scoreCalls(), 1);
  assert.equal(replies.length, 2);
  assert.deepEqual(
    replies.map((reply) => reply?.text),
    (await Promise.all(requests.map((request) => engine.generate(request)))).map(({ text }) => text),
  );
  assert.ok(scores.every((score) => score?.topK.every(({ ids }) => ids.length === 3)));
  assert.ok(first.meter.usage.input_tokens > 0 && first.meter.usage.output_tokens > 0);

  const later = callsWith(0);
  const again = await baseMemoryOf(engine, join(folder, 'shared'));
  assert.deepEqual(await again.generate(later, requests, 1), replies);
  assert.deepEqual(await again.score(later, await scoreCalls(), 1), scores);
  assert.deepEqual(later.meter.usage, noUsage);
});

test('only what is missing is asked, and results keep the order of the requests', async () => {
  const memory = new BaseMemory(join(folder, 'partly'));
  const [, second] = requests;
  assert.ok(second !== undefined);
  const [known] = await memory.generate(callsWith(), [second], 1);
  const calls = callsWith();
  const replies = await memory.generate(calls, requests, 1);
  assert.deepEqual(replies[1], known);
  assert.notDeepEqual(replies[0], known);
  assert.equal(calls.meter.usage.input_tokens, await engine.countTokens(requests[0]!.prompt));
});

test('an adapter is asked each time', async () => {
  const memory = new BaseMemory(join(folder, 'adapter'));
  const asked = await scoreCalls(await adapter());
  const scores = await memory.score(callsWith(), asked, 1);
  const calls = callsWith();
  assert.deepEqual(await memory.score(calls, asked, 1), scores);
  assert.ok(calls.meter.usage.input_tokens > 0);
  assert.deepEqual(await readdir(join(folder, 'adapter')).catch(() => []), []);
});

test('without money nothing is asked, and nothing remembered', async () => {
  const memory = new BaseMemory(join(folder, 'poor'));
  assert.deepEqual(await memory.generate(callsWith(0), requests, 1), [null, null]);
  assert.deepEqual(await readdir(join(folder, 'poor')).catch(() => []), []);
  assert.ok((await memory.generate(callsWith(), requests, 1)).every((reply) => reply !== null));
});

test('a damaged file is asked for again and written anew', async () => {
  const place = join(folder, 'damaged');
  const memory = new BaseMemory(place);
  const replies = await memory.generate(callsWith(), requests, 1);
  const names = await readdir(place);
  assert.equal(names.length, 2);
  const [name = ''] = names;
  const whole = await readFile(join(place, name), 'utf8');
  for (const damage of ['', '{"text":', '{"text":1}']) {
    await writeFile(join(place, name), damage);
    assert.deepEqual(await memory.generate(callsWith(), requests, 1), replies);
    assert.equal(await readFile(join(place, name), 'utf8'), whole);
  }
});

test('a folder that cannot be written costs no job its answers', async () => {
  const file = join(folder, 'file');
  await writeFile(file, '');
  const replies = await new BaseMemory(join(file, 'below')).generate(callsWith(), requests, 1);
  assert.deepEqual(replies, await new BaseMemory(null).generate(callsWith(), requests, 1));
});
