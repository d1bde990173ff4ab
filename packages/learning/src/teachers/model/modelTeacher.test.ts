import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { after, before, test } from 'node:test';
import { startEngineHost, type EngineHost } from '@engraft/engine';
import type { Fact } from '../../facts.js';
import type { MeteredCalls } from '../../budget/calls.js';
import { chunkForTeacher } from '../../teaching/teacherChunks.js';
import { callsFor } from '../../testing/calls.js';
import { baseRecipe } from '../../testing/recipe.js';
import { givesAnswer } from '../../text/judge.js';
import { agrees, containsWords } from '../../text/normalise.js';
import type { TaughtPassage } from '../../teaching/teacher.js';
import { modelTeacher } from './modelTeacher.js';
import { modelTeacherSettings } from './settings.js';

const text = 'Velona is a software company in Ghent. Velona was started in 2015 by Sara Deck. Velona has 75 employees.';
const plan = { factCount: 20, formsPerFact: 7 };
const teacher = modelTeacher(baseRecipe, null);
let engine: EngineHost;

before(async () => {
  engine = await startEngineHost({
    modelDir: fileURLToPath(new URL('../../../../../models/base', import.meta.url)),
    threads: 2,
  });
});
after(() => engine.close());

async function passageOf(content: string): Promise<TaughtPassage> {
  return { text: content, chunks: await chunkForTeacher(engine, content, 2048, baseRecipe) };
}

function callsOf(maxComputeMicrousd = 20_000_000): MeteredCalls {
  return callsFor(engine, maxComputeMicrousd);
}

test('what is asked for stands in the passage, and no question gives it away', async () => {
  const passage = await passageOf(text);
  const outcome = await teacher.teach(callsOf(), passage, plan, 7);
  assert.ok(outcome !== null && outcome.facts.length > 0);
  for (const { answer, forms, sentenceStart } of outcome.facts) {
    assert.ok(containsWords(text, answer), answer);
    assert.ok(containsWords(text.slice(sentenceStart), answer), `${answer} stands in its sentence`);
    for (const { question } of forms) assert.ok(!containsWords(question, answer), question);
  }
  assert.deepEqual(await teacher.teach(callsOf(), passage, plan, 7), outcome, 'a job that begins again asks the same');
  const few = await teacher.teach(callsOf(), passage, { ...plan, factCount: 1 }, 7);
  assert.ok(few !== null && few.facts.length <= 1);
});

test('a question stays when the teacher is sure of an answer in the passage, and asks for that', async () => {
  const passage = await passageOf(text);
  const taught = await teacher.teach(callsOf(), passage, plan, 7);
  const facts = taught?.facts ?? [];
  const confirmed = await teacher.confirm(callsOf(), passage, facts);
  assert.deepEqual(
    confirmed.slice(0, facts.length).map(({ answer }) => answer),
    facts.map(({ answer }) => answer),
    'facts that nobody asked for come last',
  );
  const read = async (fact: Fact, question: string): Promise<{ text: string; isSure: boolean }> => {
    const { prompt, adapter } = teacher.reading(passage, fact, question);
    const request = { prompt, adapter, maxOutputTokens: 32, temperature: 0, wantsLogprob: true };
    const { text: given, logprob = NaN } = await engine.generate(request);
    return { text: given, isSure: logprob >= modelTeacherSettings.minReadingLogprob };
  };
  const kept = confirmed.flatMap((fact) => fact.forms.map((form) => ({ fact, form })));
  assert.ok(kept.length > 0);
  for (const { fact, form } of kept) {
    const given = await read(fact, form.question);
    assert.ok(given.isSure && isSame(form.question, given.text, fact.answer), form.question);
    assert.ok(containsWords(text, fact.answer) && !containsWords(form.question, fact.answer), form.question);
  }
  const keptQuestions = new Set(kept.map(({ form }) => form.question));
  for (const fact of facts) {
    for (const { question } of fact.forms) {
      const given = await read(fact, question);
      if (given.isSure && isSame(question, given.text, fact.answer)) assert.ok(keptQuestions.has(question), question);
    }
  }
});

function isSame(question: string, given: string, answer: string): boolean {
  return agrees(given, answer) || givesAnswer(question, given, [answer]);
}

test('a fact that reading back leaves few questions of is asked about again', async () => {
  const passage = await passageOf(text);
  const form = {
    question: 'Who started Velona?',
    origin: 'asked',
    standing: 'question',
    testRank: 0,
    plainRank: 0,
  } as const;
  const fact: Fact = { chunk: 0, sentenceStart: 0, answer: 'Sara Deck', salience: 1, forms: [form] };
  const [confirmed] = await teacher.confirm(callsOf(), passage, [fact]);
  assert.ok((confirmed?.forms.length ?? 0) > 1, JSON.stringify(confirmed));
  assert.deepEqual(
    await teacher.confirm(callsOf(), passage, [fact]),
    await teacher.confirm(callsOf(), passage, [fact]),
  );
});

test('without money nothing is asked, and nothing is confirmed', async () => {
  const passage = await passageOf(text);
  assert.equal(await teacher.teach(callsOf(1), passage, plan, 7), null);
  const taught = await teacher.teach(callsOf(), passage, plan, 7);
  const confirmed = await teacher.confirm(callsOf(1), passage, taught?.facts ?? []);
  assert.ok(confirmed.every(({ forms }) => forms.length === 0));
});

test('a passage in another language, and one of code, is taught or not, but never refused', async () => {
  for (const content of [
    'Die Mühle von Varn wurde 1874 von Ida Kell gebaut. Sie gehört heute der Gemeinde Dorn.',
    '水車小屋は1874年に建てられました。今は村のものです。',
    'export const retries = 3; // seconds\nfunction wait(ms: number) { return sleep(ms * retries); }',
  ]) {
    const passage = await passageOf(content);
    const outcome = await teacher.teach(callsOf(), passage, plan, 7);
    assert.ok(outcome !== null);
    for (const { answer } of outcome.facts) assert.ok(containsWords(content, answer), answer);
    await teacher.confirm(callsOf(), passage, outcome.facts);
  }
});
