import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startEngineHost, type Engine } from '@engraft/engine';
import { MeteredCalls } from './calls.js';
import { chunkPassage } from './chunk.js';
import type { Fact, Form, FormOrigin } from './facts.js';
import { Meter } from './meter.js';
import { score, type ScoredFact } from './score.js';

const passage = 'The Lume Lamp was designed by Maria Ochoa in 2019. The Lume Lamp weighs 2 kg and costs 49 dollars.';

let engine: Engine;

before(async () => {
  const modelDir = fileURLToPath(new URL('../../../models/base', import.meta.url));
  engine = await startEngineHost({ modelDir, threads: 1 });
});
after(() => engine.close());

function factOf(answer: string, ...forms: readonly (readonly [FormOrigin, string])[]): Fact {
  const sentenceStart = passage.lastIndexOf('The Lume', passage.indexOf(answer));
  return { chunk: 0, sentenceStart, answer, forms: forms.map(([origin, question]): Form => ({ origin, question })) };
}

async function scored(facts: readonly Fact[]): Promise<ScoredFact[]> {
  const price = {
    input_nanousd_per_token: 1,
    output_nanousd_per_token: 1,
    cached_input_nanousd_per_token: 1,
    training_nanousd_per_token: 1,
  };
  const calls = new MeteredCalls(engine, new Meter({ max_compute_microusd: 1e6, ...price }));
  return score(calls, chunkPassage(passage, 1500), facts, null);
}

test('a question that the teacher answers otherwise is dropped', async () => {
  const [fact] = await scored([
    factOf('Maria Ochoa', ['asked', 'Who designed the Lume Lamp?'], ['asked', 'How much does the Lume Lamp weigh?']),
  ]);
  assert.deepEqual(
    fact?.forms.map(({ question }) => question),
    ['Who designed the Lume Lamp?'],
  );
});

test('a fact without a question that holds is saved by words of its sentence that the teacher answers with it', async () => {
  const refuted = ['asked', 'How much does the Lume Lamp cost?'] as const;
  const [fact] = await scored([
    factOf('2 kg', refuted, ['keywords', 'How heavy Lume Lamp weighs?'], ['keywords', 'How much Lume Lamp costs?']),
  ]);
  assert.deepEqual(
    fact?.forms.map(({ question, origin }) => [origin, question]),
    [
      ['recognised', 'How heavy Lume Lamp weighs?'],
      ['keywords', 'How much Lume Lamp costs?'],
    ],
  );
});

test('where the teacher answers none of these words with it, the fact is not taught', async () => {
  assert.deepEqual(await scored([factOf('2 kg', ['keywords', 'Who designed Lume Lamp?'])]), []);
});
