// A teacher that knows one kind of sentence, and a passage that is learned with it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEngineHost } from '@engraft/engine';
import { defaultRecipe, learnPassage, loadReplay, plainPrompts } from '@engraft/learning';

/** The ways of asking for a price, the plainest first. The last is held out first, to test what was learned. */
const askForPrice = [
  (thing) => `What is the price of ${thing}?`,
  (thing) => `What does ${thing} cost?`,
  (thing) => `How much does ${thing} cost?`,
  (thing) => `How much is ${thing}?`,
];

const priceTeacher = {
  name: 'prices',

  measure: async ({ chunks }) => ({ factCount: factsIn(chunks).length, extraReads: 0 }),

  teach: async (_calls, { chunks }, plan) => ({ facts: factsIn(chunks).slice(0, plan.factCount), understood: true }),

  // Our rule makes no question that another answer would fit, so nothing has to be asked again.
  confirm: async (_calls, _passage, facts) => [...facts],

  reading: ({ chunks }, { chunk }, question) => ({
    prompt: plainPrompts.reading(chunks[chunk]?.text ?? '', question),
    adapter: null,
  }),
};

function factsIn(chunks) {
  return chunks.flatMap(({ sentences }, chunk) =>
    sentences.flatMap(({ text, start }) => {
      const [, thing, price] = /^(The .+) costs (\S+?)\.?\s*$/.exec(text) ?? [];
      if (thing === undefined) return [];
      const forms = askForPrice.map((ask, index) => ({
        question: ask(thing.replace(/^The/, 'the')),
        origin: 'price',
        standing: 'question',
        testRank: askForPrice.length - index,
        plainRank: index,
      }));
      return [{ chunk, sentenceStart: start, answer: price, salience: 1, forms }];
    }),
  );
}

const modelDir = fileURLToPath(new URL('../../../models/base', import.meta.url));
const workFolder = await mkdtemp(join(tmpdir(), 'engraft-example-'));
const engine = await startEngineHost({ modelDir });
const { parameters } = await engine.describe();

const stored = new Map();
const outcome = await learnPassage(
  engine,
  {
    content: 'The Lume Lamp costs $86. The Petrel Shell costs $149. The Brindle Kettle costs $52.',
    parent: null,
    earlier: [],
    replay: await loadReplay(modelDir),
    teacher: priceTeacher,
    recipe: defaultRecipe(parameters),
    budget: {
      max_compute_microusd: 5_000_000,
      input_nanousd_per_token: 12_000,
      output_nanousd_per_token: 30_000,
      cached_input_nanousd_per_token: 2_500,
      training_nanousd_per_token: 36_000,
    },
    seed: 1,
    workFolder,
  },
  {
    load: async (phase) => stored.get(phase) ?? null,
    store: async (phase, result) => void stored.set(phase, result),
    entered: async () => undefined,
  },
);
const { passed_count, total_count } = outcome.validation;
console.log(`${outcome.kind}: ${passed_count} of ${total_count} held-out questions`);

const prompt = { messages: [{ role: 'user', content: 'How much is the Petrel Shell?' }] };
const { text } = await engine.generate({ prompt, adapter: outcome.adapter, maxOutputTokens: 16, temperature: 0 });
console.log(text);

await engine.close();
await rm(workFolder, { recursive: true });
