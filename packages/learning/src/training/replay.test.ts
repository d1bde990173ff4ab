import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { randomNumbers } from '../random.js';
import { baseRecipe } from '../testing/recipe.js';
import { drawReplay, loadReplay, replayPrompt, upToSomeTurn } from './replay.js';
import type { ReplayRow } from '../types.js';

async function withFile<Result>(text: string | null, use: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'replay-'));
  try {
    if (text !== null) await writeFile(join(folder, 'replay.jsonl'), text);
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const talk: ReplayRow = {
  messages: [
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: 'Hi' },
    { role: 'user', content: 'How are you?' },
    { role: 'assistant', content: 'Well' },
  ],
};

test('rows are read line by line; a checkpoint without the file has none', async () => {
  const text = `${JSON.stringify(talk)}\n\n${JSON.stringify({ messages: talk.messages.slice(0, 2) })}\n`;
  assert.deepEqual(await withFile(text, loadReplay), [talk]);
  assert.deepEqual(await withFile(null, loadReplay), []);
});

test('damage is refused by its line', async () => {
  await assert.rejects(withFile(`${JSON.stringify(talk)}\n{"messages":`, loadReplay), /line 2/);
});

test('a row is cut after one of its answers', () => {
  const random = randomNumbers(1);
  const completions = new Set(
    Array.from({ length: 20 }, () => {
      const { prompt, completion } = replayPrompt(upToSomeTurn(talk, random));
      assert.equal(prompt.messages.at(-1)?.role, 'user');
      return completion;
    }),
  );
  assert.deepEqual([...completions].sort(), ['Hi', 'Well']);
});

test('what is expected of the last reply is not expected of an earlier one', () => {
  const row: ReplayRow = {
    messages: [
      { role: 'user', content: 'Hello!' },
      { role: 'assistant', content: 'Hello.' },
      { role: 'user', content: 'What is 2 + 3?' },
      { role: 'assistant', content: '5' },
    ],
    expected: ['5'],
  };
  const [early, late] = [upToSomeTurn(row, () => 0), upToSomeTurn(row, () => 0.99)];
  assert.deepEqual([early.messages.length, early.expected], [2, undefined]);
  assert.deepEqual(late, row);
});

test('two canaries in three are known to be answered right, as far as there are any, and none is replayed', () => {
  const said = (question: string, reply: string, expected?: string): ReplayRow => ({
    messages: [
      { role: 'user', content: question },
      { role: 'assistant', content: reply },
    ],
    ...(expected === undefined ? {} : { expected: [expected] }),
  });
  const numbers = Array.from({ length: 40 }, (_, index) => String(index));
  const talk = numbers.map((number) => said(`Tell me of ${number}.`, 'Well.'));
  const wrong = numbers.map((number) => said(`What is ${number} and none?`, 'Nobody knows.', number));
  const right = numbers.map((number) => said(`What is ${number}?`, `It is ${number}.`, number));
  const knownIn = (rows: readonly ReplayRow[]): number => rows.filter((row) => right.includes(row)).length;
  for (const seed of [1, 2, 3]) {
    const { canaries, replay } = drawReplay([...talk, ...wrong, ...right], seed, baseRecipe);
    assert.equal(canaries.length, baseRecipe.evaluating.maxCanaries);
    assert.ok(knownIn(canaries) >= Math.floor((2 / 3) * canaries.length));
    assert.equal(new Set([...canaries, ...replay]).size, 120);
    assert.equal(knownIn(drawReplay([...talk, ...right.slice(0, 3)], seed, baseRecipe).canaries), 3);
  }
});

test('a beginning is no canary, and is not trained where its question is one', () => {
  const rowOf = (question: string): ReplayRow => ({
    messages: [
      { role: 'user', content: question },
      { role: 'assistant', content: 'Rome' },
    ],
  });
  const whole = Array.from({ length: 30 }, (_, index) => rowOf(`What is the capital of country ${index}?`));
  const beginnings = whole.map((row): ReplayRow => ({ ...row, beginning: true }));
  const textOf = ({ messages }: ReplayRow): string => messages[0]?.content ?? '';
  for (const seed of [1, 2]) {
    const { canaries, replay } = drawReplay([...whole, ...beginnings], seed, baseRecipe);
    assert.deepEqual(canaries, drawReplay(whole, seed, baseRecipe).canaries);
    const asked = canaries.map(textOf);
    assert.ok(asked.length > 0);
    const trained = replay.filter(({ beginning }) => beginning === true).map(textOf);
    assert.deepEqual(
      trained,
      whole.map(textOf).filter((text) => !asked.includes(text)),
    );
  }
});
