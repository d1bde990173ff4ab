// Learns invented passages with the shipped base model and asks questions that people wrote.
//   node bench/learning-dev.mjs [--model models/base] [--only lamp,ship] [--usd 5] [--threads 2] [--recipe JSON] [--chain] [--verbose]
// With --chain each passage is learned on top of those before it, and all their questions are asked again at the end.
// Prints, for each passage: pairs kept and how many are right, the gate's numbers, human questions answered by base,
// by base with the passage before it, and by the candidate; seconds and micro-USD.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEngineHost } from '../packages/engine/dist/index.js';
import { learnPassage, loadReplay } from '../packages/learning/dist/index.js';
import { costNanousd } from '../packages/learning/dist/meter.js';
import { normalise, sameAnswer } from '../packages/learning/dist/normalise.js';
import { closedBookPrompt, readingPrompt } from '../packages/learning/dist/prompts.js';
import { recipe } from '../packages/learning/dist/recipe.js';
import { passages } from './learning-passages.mjs';

const { values: options } = parseArgs({
  options: {
    model: { type: 'string', default: 'models/base' },
    only: { type: 'string' },
    usd: { type: 'string', default: '5' },
    threads: { type: 'string', default: '2' },
    seed: { type: 'string', default: '1' },
    recipe: { type: 'string', default: '{}' },
    chain: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
});

// The recipe is constant for the compiler only, so that a trial can change it.
Object.assign(recipe, JSON.parse(options.recipe));

const budget = {
  max_compute_microusd: Number(options.usd) * 1e6,
  input_nanousd_per_token: 12_000,
  output_nanousd_per_token: 30_000,
  cached_input_nanousd_per_token: 2_500,
  training_nanousd_per_token: 36_000,
};

const engine = await startEngineHost({ modelDir: options.model, threads: Number(options.threads) });
const replay = await loadReplay(options.model);
console.log(`replay rows: ${replay.length}`);
const chosen = passages.filter(({ name }) => options.only === undefined || options.only.split(',').includes(name));
const totals = {
  asked: 0,
  base: 0,
  reading: 0,
  covered: 0,
  candidate: 0,
  kept: 0,
  passed: 0,
  validated: 0,
  accepted: 0,
  seconds: 0,
  usd: 0,
};
let parent = null;
const earlier = [];
const folders = [];
for (const passage of chosen) {
  folders.push(mkdtempSync(join(tmpdir(), 'learning-dev-')));
  const outcome = await measure(passage, folders.at(-1));
  if (!options.chain || outcome.kind !== 'accepted') continue;
  parent = outcome.adapter;
  earlier.push(outcome.rehearsal);
  for (const { name, questions } of chosen.slice(0, chosen.indexOf(passage) + 1)) {
    const flat = questions.flatMap(([answer, forms]) => forms.map((question) => ({ question, answer })));
    const given = await answers(flat, parent, null);
    console.log(
      `   now ${name}: ${flat.filter(({ answer }, index) => close(given[index], answer)).length}/${flat.length}`,
    );
  }
}
for (const folder of folders) rmSync(folder, { recursive: true });
console.log(JSON.stringify(totals));
await engine.close();

async function measure(passage, workFolder) {
  const stored = new Map();
  const seconds = {};
  let entered;
  const journal = {
    load: async () => null,
    entered: async () => void (entered = performance.now()),
    store: async (phase, { outcome }) => {
      stored.set(phase, outcome);
      seconds[phase] = Number(((performance.now() - entered) / 1000).toFixed(1));
    },
  };
  const input = {
    content: passage.text,
    parent,
    earlier,
    replay,
    budget,
    seed: Number(options.seed),
    workFolder,
  };
  const outcome = await learnPassage(engine, input, journal);
  const adapter = stored.get('training')?.adapter ?? null;
  const questions = passage.questions.flatMap(([answer, forms]) => forms.map((question) => ({ question, answer })));
  const [base, reading, candidate] = await Promise.all([
    answers(questions, null, null),
    answers(questions, null, passage.text),
    adapter === null ? questions.map(() => '') : answers(questions, adapter, null),
  ]);
  const pairs = (stored.get('scoring')?.facts ?? []).flatMap(({ answer, training, dev, validation }) =>
    [...training, ...dev, ...validation].map(({ question, origin }) => ({ question, answer, origin })),
  );
  const count = (given) => questions.filter(({ answer }, index) => close(given[index], answer)).length;
  const learned = (answer) => pairs.some((pair) => close(pair.answer, answer) || close(answer, pair.answer));
  const covered = questions.filter(({ answer }) => learned(answer)).length;
  const row = {
    name: passage.name,
    kind: outcome.kind,
    facts: [stored.get('teaching')?.facts.length, stored.get('scoring')?.facts.length],
    pairs: pairs.length,
    validation: `${outcome.validation?.passed_count}/${outcome.validation?.total_count} (parent ${outcome.validation?.base_passed_count})`,
    canaries: stored.get('evaluating')?.canaries,
    human: { base: count(base), reading: count(reading), covered, candidate: count(candidate), of: questions.length },
    training: outcome.training,
    seconds,
    usd: costNanousd(outcome.usage, budget) / 1e9,
  };
  console.log(JSON.stringify(row));
  totals.asked += questions.length;
  totals.base += row.human.base;
  totals.reading += row.human.reading;
  totals.covered += covered;
  totals.candidate += row.human.candidate;
  totals.kept += pairs.length;
  totals.passed += outcome.validation?.passed_count ?? 0;
  totals.validated += outcome.validation?.total_count ?? 0;
  totals.accepted += outcome.kind === 'accepted' ? 1 : 0;
  totals.seconds += Object.values(seconds).reduce((a, b) => a + b, 0);
  totals.usd += row.usd;
  if (!options.verbose) return outcome;
  for (const fact of stored.get('scoring')?.facts ?? []) {
    console.log(`  [${fact.answer}]`);
    for (const use of ['training', 'dev', 'validation']) {
      for (const { question, origin } of fact[use])
        console.log(`     ${use.slice(0, 3)} ${origin.slice(0, 4)}  ${question}`);
    }
  }
  questions.forEach(({ question, answer }, index) =>
    console.log(
      `  ${close(candidate[index], answer) ? 'ok ' : learned(answer) ? 'NO ' : '-- '} ${question} [${answer}] candidate: ${candidate[index]} | reading: ${reading[index]} | base: ${base[index]}`,
    ),
  );
  return outcome;
}

/** Equal, or without the unit: "340" for "340 pupils". */
function close(given, answer) {
  const [a, b] = [normalise(given), normalise(answer)];
  return sameAnswer(given, answer) || (a !== '' && /\d/.test(a) && ` ${b} `.includes(` ${a} `)) || a === `${b} old`;
}

function answers(questions, adapter, text) {
  return Promise.all(
    questions.map(async ({ question }) => {
      const prompt = text === null ? closedBookPrompt(question) : readingPrompt(text, question);
      return (await engine.generate({ prompt, adapter, maxOutputTokens: 32, temperature: 0 })).text;
    }),
  );
}
