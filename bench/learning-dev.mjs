// What the pipeline makes of a set of passages, answer by answer: for trials of the recipe, and to see why something
// was missed.
//
// node bench/learning-dev.mjs [FILE] [--model DIR] [--only ID,ID] [--share 1/2] [--chain] [--seed 1]
//   [--threads 1] [--recipe JSON] [--usd 20] [--out FILE] [--verbose]
//
// FILE is bench/learning/second.jsonl if none is named, and may have any format that `engraft eval` reads. `--recipe
// '{"training": {"rank": 16}}'` changes those numbers of the recipe. `--share 1/2` takes every second passage, so that
// two processes share a set. With --chain each passage is learned on top of those accepted before it, and all of theirs
// are asked again after each. Prints a line for each passage (*taught* are questions of which an accepted answer was
// trained), and with --verbose what was trained and every answer. --out keeps all of that as JSON.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { currentPriceCard } from '../packages/contract/dist/index.js';
import { startEngineHost } from '../packages/engine/dist/index.js';
import { ask, isRight, parsePassageFile, phrasingsOf } from '../packages/evaluation/dist/index.js';
import { learnPassage } from '../packages/learning/dist/index.js';
import { adapterIn } from '../packages/learning/dist/parts.js';
import { learningMethodOf } from './lib/learningMethod.mjs';
import { root } from './lib/measure.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    model: { type: 'string', default: join(root, 'models/base') },
    only: { type: 'string' },
    share: { type: 'string', default: '1/1' },
    chain: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    threads: { type: 'string', default: '1' },
    recipe: { type: 'string', default: '{}' },
    usd: { type: 'string', default: '20' },
    out: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
});

const file = positionals[0] ?? join(root, 'bench/learning/second.jsonl');
const set = parsePassageFile(readFileSync(file, 'utf8'));
if (set.kind !== 'read') throw new Error(`${file}: ${JSON.stringify(set)}`);
const only = options.only?.split(',');
const [part, parts] = options.share.split('/').map(Number);
const chosen = set.passages
  .filter(({ id }) => only === undefined || only.includes(id))
  .filter((_, index) => index % parts === part - 1);

const engine = await startEngineHost({ modelDir: options.model, threads: Number(options.threads) });
const method = await learningMethodOf(engine, options.model, JSON.parse(options.recipe));
const { prompts, evaluating } = method.recipe;
const folder = mkdtempSync(join(tmpdir(), 'learning-dev-'));
const details = [];
const learned = [];
for (const passage of chosen) {
  const detail = await measure(passage, options.chain ? learned : []);
  details.push(detail);
  if (options.out !== undefined) writeFileSync(options.out, JSON.stringify(details, null, 1));
  if (options.chain && detail.verdict === 'accepted') {
    for (const earlier of learned) {
      const { right } = await answersOf(earlier.passage, detail.adapter, null);
      console.log(`   still ${earlier.passage.id}: ${right} of ${earlier.right}`);
    }
    learned.push({ passage, adapter: detail.adapter, rehearsal: detail.rehearsal, right: detail.learned });
  }
}
const sum = (name) => details.reduce((total, detail) => total + detail[name], 0);
console.log(
  `${details.length} passages: reading ${sum('reading')}, taught ${sum('taught')}, learned ${sum('learned')} ` +
    `of ${sum('asked')}, ${Math.round(sum('seconds'))} s`,
);
rmSync(folder, { recursive: true });
await engine.close();

async function measure(passage, before) {
  const stored = new Map();
  const journal = {
    load: async () => null,
    entered: async () => {},
    store: async (phase, { outcome }) => void stored.set(phase, outcome),
  };
  const workFolder = join(folder, passage.id);
  const startedAt = performance.now();
  const outcome = await learnPassage(
    engine,
    {
      content: passage.passage,
      parent: before.at(-1)?.adapter ?? null,
      earlier: before.map(({ rehearsal }) => rehearsal),
      ...method,
      budget: { ...currentPriceCard, max_compute_microusd: Number(options.usd) * 1e6 },
      seed: Number(options.seed),
      isolationKey: passage.id,
      workFolder,
    },
    journal,
  );
  const seconds = (performance.now() - startedAt) / 1000;
  // Also of a candidate that the gate rejected.
  const training = stored.get('training');
  const adapter = training === undefined ? null : adapterIn(workFolder, training);
  const facts = (stored.get('scoring')?.facts ?? []).map(({ softTargets: _, ...fact }) => fact);
  const reading = await answersOf(passage, null, passage.passage);
  const closed = adapter === null ? { right: 0, given: [] } : await answersOf(passage, adapter, null);
  const questions = phrasingsOf(passage).map((phrasing, index) => ({
    ...phrasing,
    reading: reading.given[index],
    learned: closed.given[index] ?? null,
    readingIsRight: isRight(phrasing, reading.given[index]),
    learnedIsRight: isRight(phrasing, closed.given[index] ?? ''),
    // Whether any of its accepted answers was trained at all.
    isTaught: facts.some(({ answer }) =>
      phrasing.answers.some((accepted) => isRight({ ...phrasing, answers: [accepted] }, answer)),
    ),
  }));
  const detail = {
    id: passage.id,
    verdict: outcome.kind,
    validation: outcome.validation ?? null,
    gate: outcome.gate ?? null,
    asked: questions.length,
    reading: reading.right,
    // What teaching covers of what people ask.
    taught: questions.filter(({ isTaught }) => isTaught).length,
    learned: closed.right,
    seconds,
    steps: outcome.training?.steps ?? 0,
    questions,
    facts,
    adapter,
    rehearsal: outcome.rehearsal ?? null,
  };
  const passed = `${outcome.validation?.passed_count} of ${outcome.validation?.total_count}`;
  console.log(
    `${passage.id}: ${outcome.kind} (${passed}), reading ${reading.right}, taught ${detail.taught}, learned ${closed.right} ` +
      `of ${questions.length}; ${facts.length} facts, ${detail.steps} steps, ${seconds.toFixed(0)} s`,
  );
  if (options.verbose) printed(detail);
  return detail;
}

async function answersOf(passage, adapter, text) {
  const asked = phrasingsOf(passage);
  const questions = asked.map(({ question }) =>
    text === null ? prompts.closedBook(question) : prompts.reading(text, question),
  );
  const given = await ask(engine, questions, adapter, { maxAnswerTokens: evaluating.maxAnswerTokens });
  return { given, right: asked.filter((phrasing, index) => isRight(phrasing, given[index])).length };
}

function printed({ facts, questions }) {
  for (const fact of facts) {
    console.log(`  [${fact.answer}]`);
    for (const use of ['training', 'dev', 'validation']) {
      for (const { question, origin } of fact[use])
        console.log(`     ${use.slice(0, 3)} ${origin.slice(0, 4)}  ${question}`);
    }
  }
  for (const { question, answers, reading, learned, readingIsRight, learnedIsRight, isTaught } of questions) {
    const mark = `${learnedIsRight ? 'ok' : '--'} ${readingIsRight ? 'ok' : '--'} ${isTaught ? 'taught' : '      '}`;
    console.log(`  ${mark} ${question} [${answers[0]}] learned: ${learned} | reading: ${reading}`);
  }
}
