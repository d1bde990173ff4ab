import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startEngineHost, type Engine } from '@engraft/engine';
import { chunkPassage, Meter, MeteredCalls, type Fact, type Form } from '@engraft/learning/parts';
import { baseRecipe as recipe } from '@engraft/learning/testing/recipe.js';
import { formOf, type FormOrigin } from '../forms.js';
import { rules } from '../rules.js';
import { confirm } from './confirm.js';

const passage = 'The Lume Lamp was designed by Maria Ochoa in 2019. The Lume Lamp weighs 2 kg and costs 49 dollars.';

let engine: Engine;

before(async () => {
  const modelDir = fileURLToPath(new URL('../../../../models/base', import.meta.url));
  engine = await startEngineHost({ modelDir, threads: 1 });
});
after(() => engine.close());

function factOf(answer: string, ...forms: readonly (readonly [FormOrigin, string])[]): Fact {
  const sentenceStart = passage.lastIndexOf('The Lume', passage.indexOf(answer));
  return {
    chunk: 0,
    sentenceStart,
    answer,
    salience: 0.3,
    forms: forms.map(([origin, question]) => formOf(question, origin)),
  };
}

async function confirmed(facts: readonly Fact[], on = engine): Promise<Fact[]> {
  const price = {
    input_nanousd_per_token: 1,
    output_nanousd_per_token: 1,
    cached_input_nanousd_per_token: 1,
    training_nanousd_per_token: 1,
  };
  const calls = new MeteredCalls(on, new Meter({ max_compute_microusd: 1e6, ...price }));
  return confirm({ calls, passage: { text: passage, chunks: chunkPassage(passage, 1500) }, recipe }, facts);
}

test('a question that the teacher answers otherwise is dropped', async () => {
  const [fact] = await confirmed([
    factOf('Maria Ochoa', ['asked', 'Who designed the Lume Lamp?'], ['asked', 'How much does the Lume Lamp weigh?']),
  ]);
  assert.deepEqual(
    fact?.forms.map(({ question }) => question),
    ['Who designed the Lume Lamp?'],
  );
});

test('a fact without a question that holds is saved by words of its sentence that the teacher answers with it', async () => {
  const refuted = ['asked', 'How much does the Lume Lamp cost?'] as const;
  const [fact] = await confirmed([
    factOf(
      '2 kg',
      refuted,
      ['keywords', 'How heavy Lume Lamp weighs?'],
      ['keywords', 'How much Lume Lamp costs?'],
      ['keywords', 'What weight Lume Lamp?'],
    ),
  ]);
  assert.deepEqual(
    fact?.forms.map(({ question, origin }) => [origin, question]),
    [
      ['recognised', 'How heavy Lume Lamp weighs?'],
      ['keywords', 'What weight Lume Lamp?'],
    ],
    'the second one was read, too, and asks for something else; the third one was not',
  );
});

test('where the teacher answers none of these words with it, the fact is not taught', async () => {
  assert.deepEqual(await confirmed([factOf('2 kg', ['keywords', 'Who designed Lume Lamp?'])]), []);
});

test('what people very likely ask for is taught by its words even so', async () => {
  const words = factOf('2 kg', ['keywords', 'Who designed Lume Lamp?'], ['keywords', 'What weight Lume Lamp?']);
  const [fact] = await confirmed([{ ...words, salience: rules.sureSalience }]);
  assert.deepEqual(
    fact?.forms.map(({ question }) => question),
    ['What weight Lume Lamp?'],
    'but not by words that the teacher answers with something else',
  );
});

test('a part of a value is not taught, however likely people ask for it', async () => {
  const cut = factOf(
    '9 dollars',
    ['asked', 'How much does the Lume Lamp cost?'],
    ['keywords', 'What price Lume Lamp?'],
  );
  assert.deepEqual(await confirmed([{ ...cut, salience: 1 }]), []);
});

test('what the teacher finds no answer to says so', async () => {
  const [fact] = await confirmed([
    factOf('2 kg', ['derived', 'What does the Lume Lamp weigh?'], ['derived', 'What is the weight of the Orin Lamp?']),
  ]);
  assert.deepEqual(
    fact?.forms.map(({ unanswered }) => unanswered),
    [undefined, true],
  );
});

test("words of a sentence say nothing against another fact's question that holds, and two facts with the same words both lose them", async () => {
  const facts = await confirmed([
    factOf(
      'Maria Ochoa',
      ['asked', 'Who designed the Lume Lamp?'],
      ['keywords', 'What designed Lume Lamp?'],
      ['keywords', 'Who designed Lume Lamp?'],
    ),
    factOf(
      '2019',
      ['asked', 'When was the Lume Lamp designed?'],
      ['keywords', 'Who designed the Lume Lamp?'],
      ['keywords', 'What designed Lume Lamp?'],
      ['keywords', 'When Lume Lamp designed?'],
    ),
  ]);
  assert.deepEqual(
    facts.map(({ forms }) => forms.map(({ question }) => question)),
    [
      ['Who designed the Lume Lamp?', 'Who designed Lume Lamp?'],
      ['When was the Lume Lamp designed?', 'When Lume Lamp designed?'],
    ],
  );
});

test('later wordings of a relation are read only when one of the first ones holds', async () => {
  const asked: string[] = [];
  const watched: Engine = {
    describe: () => engine.describe(),
    countTokens: (prompt) => engine.countTokens(prompt),
    encode: (...call) => engine.encode(...call),
    generate: (request, options) => {
      asked.push(request.prompt.messages.at(-1)?.content ?? '');
      return engine.generate(request, options);
    },
    score: (request, options) => engine.score(request, options),
    openTraining: (options) => engine.openTraining(options),
    forgetPrefixes: (isolationKey) => engine.forgetPrefixes(isolationKey),
    close: () => engine.close(),
  };
  const wordings = (relation: string, questions: readonly string[]): Form[] =>
    questions.map((question) => ({ ...formOf(question, 'template'), relation }));
  const designer = [
    'Who designed the Lume Lamp?',
    'By whom was the Lume Lamp designed?',
    'Who is the designer of the Lume Lamp?',
  ];
  const price = [
    'How much does the Lume Lamp cost?',
    'What is the price of the Lume Lamp?',
    'What does the Lume Lamp cost?',
  ];
  const fact = factOf('Maria Ochoa');
  await confirmed([{ ...fact, forms: [...wordings('designer', designer), ...wordings('price', price)] }], watched);
  const read = [...designer, ...price].filter((question) => asked.includes(question));
  assert.deepEqual(read, [...designer, ...price.slice(0, 2)]);
});
