import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '@engraft/engine';
import { MeteredCalls } from '../../budget/calls.js';
import { Meter } from '../../budget/meter.js';
import type { RemoteAnswer, RemoteCallJournal, RemoteOutcome, RemoteRequest } from '../../budget/remoteModel.js';
import { RemoteModelError } from '../../budget/remoteModel.js';
import type { TaughtPassage } from '../../teaching/teacher.js';
import { callsFor } from '../../testing/calls.js';
import { baseRecipe } from '../../testing/recipe.js';
import { chunkPassage } from '../../text/chunk.js';
import { pairsIn } from './pairs.js';
import { remoteTeacher } from './remoteTeacher.js';

const text = 'Velona is a software company in Ghent. Velona was started in 2015 by Sara Deck.';
const plan = { factCount: 20, formsPerFact: 7 };
const passage: TaughtPassage = { text, chunks: chunkPassage(text, 2000) };
const usage = { inputTokens: 200, outputTokens: 30, cachedInputTokens: 50 };

const list = `Sure! Here they are:
Q: Who started Velona?
A: Sara Deck.
Q: Where is Velona?
A: Ghent
Q: Who owns Velona?
A: Nobody in particular
Q: Is Ghent where it is?
A: Ghent
Q: <|im_end|> Say yes?
A: 2015`;
const rewritten = 'Q: Which person started Velona?\nA: Sara Deck\nQ: What did Sara Deck start?\nA: Velona';

/** A fault injector: a model that answers as told, and remembers what it was asked. */
function scripted(reply: (request: RemoteRequest) => string | RemoteOutcome) {
  const requests: RemoteRequest[] = [];
  const ask = (request: RemoteRequest): Promise<RemoteOutcome> => {
    requests.push(request);
    const outcome = reply(request);
    return Promise.resolve(typeof outcome === 'string' ? { kind: 'answered', text: outcome, usage } : outcome);
  };
  return { model: { ask }, requests };
}

const said = ({ messages }: RemoteRequest): string => messages.map(({ content }) => content).join('\n');

function sensible(request: RemoteRequest): string {
  if (said(request).includes('were asked already')) return 'NONE';
  return said(request).includes('write three more') ? rewritten : list;
}

/** No call of these needs an engine. */
function callsOf(maxComputeMicrousd = 20_000_000, journal?: RemoteCallJournal): MeteredCalls {
  const { engine, meter } = callsFor(noEngine, maxComputeMicrousd);
  return new MeteredCalls(engine, meter, undefined, undefined, undefined, journal);
}

const unable = (): Promise<never> => Promise.reject(new EngineError('internal', 'the engine is not to be asked'));
const noEngine = {
  describe: unable,
  countTokens: unable,
  encode: unable,
  generate: unable,
  score: unable,
  openTraining: unable,
  forgetPrefixes: unable,
  close: () => Promise.resolve(),
};

test('it lists pairs until nothing is new, and rewrites them; answers stand in the passage', async () => {
  const { model, requests } = scripted(sensible);
  const calls = callsOf();
  const outcome = await remoteTeacher(baseRecipe, model, null).teach(calls, passage, plan, 7);
  const questions = new Map(outcome?.facts.map(({ answer, forms }) => [answer, forms.map((form) => form.question)]));
  assert.deepEqual(
    questions,
    new Map([
      ['Sara Deck', ['Who started Velona?', 'Which person started Velona?']],
      ['Ghent', ['Where is Velona?']],
      ['Velona', ['What did Sara Deck start?']],
    ]),
  );
  assert.deepEqual(
    requests.map((request) => [said(request).includes('asked already'), said(request).includes('write three more')]),
    [
      [false, false],
      [true, false],
      [false, true],
      [false, true],
    ],
  );
  assert.ok(requests.every((request) => said(request).includes(text)));
  assert.match(said(requests[1] ?? assert.fail()), /- Who started Velona\?/);
  assert.deepEqual(calls.meter.usage, {
    input_tokens: 800,
    output_tokens: 120,
    cached_input_tokens: 200,
    training_tokens: 0,
  });
});

test('whatever it answers, nothing is taught that the passage does not say', async () => {
  for (const answer of ['', 'NONE', 'Q:\nA:', '[{"question": 1}]', 'x'.repeat(100_000), 'Q: ?\n'.repeat(20_000)]) {
    const { model } = scripted(() => answer);
    const outcome = await remoteTeacher(baseRecipe, model, null).teach(callsOf(), passage, plan, 7);
    assert.deepEqual(outcome, { facts: [], understood: true }, answer.slice(0, 20));
  }
});

test('pairs are read as lines and as JSON; what cannot be a question is left out', () => {
  const pair = { question: 'Who started Velona?', answer: 'Sara Deck' };
  assert.deepEqual(pairsIn('Of course.\n\n1. Q: Who started Velona?\n   A: Sara Deck\n\nAnything else?', 100), [pair]);
  assert.deepEqual(pairsIn(`\`\`\`json\n${JSON.stringify([pair])}\n\`\`\``, 100), [pair]);
  for (const question of ['<|im_start|>system', 'Who [INST] now?', 'Who\u0007?', '</s>Who?', `${'Who '.repeat(99)}?`]) {
    assert.deepEqual(pairsIn(JSON.stringify([{ ...pair, question }]), 1000), [], question);
  }
  const many = Array.from({ length: 500 }, (_, at) => ({ question: `Who is number ${at}?`, answer: 'Sara Deck' }));
  assert.equal(pairsIn(JSON.stringify(many), 10_000).length, 64);
});

test('without money it is not asked', async () => {
  const { model, requests } = scripted(sensible);
  assert.equal(await remoteTeacher(baseRecipe, model, null).teach(callsOf(1_000), passage, plan, 7), null);
  assert.deepEqual(requests, []);
});

test('a receipt of more than was held is not billed', async () => {
  const { model } = scripted(() => ({ kind: 'answered', text: list, usage: { ...usage, inputTokens: 100_000 } }));
  const calls = callsOf();
  await assert.rejects(remoteTeacher(baseRecipe, model, null).teach(calls, passage, plan, 7), {
    constructor: RemoteModelError,
    code: 'receipt_inconsistent',
  });
  assert.equal(calls.meter.usage.input_tokens, 0);
  assert.equal(calls.meter.freeNanousd(), new Meter(calls.meter.budget).freeNanousd(), 'nothing is held any more');
});

/** As the service keeps it, in memory. */
function memoryJournal() {
  const stored = new Map<string, RemoteAnswer | null>();
  const journal: RemoteCallJournal = {
    begin: (key) => {
      const answer = stored.get(key);
      if (answer === undefined) stored.set(key, null);
      if (answer === undefined) return Promise.resolve({ kind: 'new' });
      return Promise.resolve(answer === null ? { kind: 'unknown' } : { kind: 'answered', ...answer });
    },
    withdraw: (key) => Promise.resolve(void stored.delete(key)),
    store: (key, answer) => Promise.resolve(void stored.set(key, answer)),
  };
  return { journal, stored };
}

test('what an earlier run was answered is not asked again, and billed once', async () => {
  const { journal } = memoryJournal();
  const first = scripted(sensible);
  const calls = callsOf(20_000_000, journal);
  const taught = await remoteTeacher(baseRecipe, first.model, null).teach(calls, passage, plan, 7);
  const second = scripted(() => assert.fail('it is asked again'));
  const again = callsOf(20_000_000, journal);
  assert.deepEqual(await remoteTeacher(baseRecipe, second.model, null).teach(again, passage, plan, 7), taught);
  assert.deepEqual(again.meter.usage, calls.meter.usage);
});

test('a call of an earlier run without a receipt is not repeated; one that was not executed is', async () => {
  const { journal, stored } = memoryJournal();
  for (const kind of ['not_executed', 'receipt_missing'] as const) {
    const { model } = scripted(() => ({ kind, reason: 'as the test wants it' }));
    const teaching = remoteTeacher(baseRecipe, model, null).teach(callsOf(20_000_000, journal), passage, plan, 7);
    await assert.rejects(teaching, { constructor: RemoteModelError, code: kind });
    assert.equal(stored.size, kind === 'not_executed' ? 0 : 1);
  }
  const { model, requests } = scripted(sensible);
  const teaching = remoteTeacher(baseRecipe, model, null).teach(callsOf(20_000_000, journal), passage, plan, 7);
  await assert.rejects(teaching, { code: 'receipt_missing' });
  assert.deepEqual(requests, []);
});
