// What learning is worth on the fifty passages of bench/learning/passages.jsonl, with several seeds.
//
// npm run bench -- learning [--model DIR] [--set passages] [--passages 50] [--seeds 3] [--chain 8]
//   [--parts alone,gold,chain] [--long yes|no] [--usd 20] [--threads 2] [--processes 1] [--resume yes|no]
//
// For each seed: every passage learned by itself; the trainer by itself, on the file's right pairs ("gold": one
// phrasing of each question trained, the other asked); and a chain of passages, each on top of those before it. Then
// one passage of about 1,000 characters and a handbook of 16,000, each in a fresh engine, for time and memory. All of
// it takes hours; `--passages 2 --seeds 1 --chain 2` a few minutes, without the handbook unless `--long yes` asks for
// it. `--set second` (or `third`) takes the passages of that file. `--processes 2` shares the passages of a seed among
// so many engines of `--threads` threads each; what is learned does not depend on either, and two of one thread take
// less time than one of two. The last two passages have the machine to themselves. Writes bench/results/learning.json
// after each seed, and .svg at the end; of another set or model learning-SET-FOLDER.*, and of fewer passages or not all
// parts *-partial.*, which git ignores. `--resume yes` takes over the seeds that the file has already, if it was
// written for the same passages, model, cap and code; so hours may be spread over days.
import { writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { spreadSample } from '../packages/learning/dist/index.js';
import { startClock } from './lib/clock.mjs';
import { startLearners } from './lib/learners.mjs';
import { figuresOf, plot, print } from './lib/learningFigures.mjs';
import { budgetOf, describeModel, learningSources, presetOf } from './lib/learningInputs.mjs';
import { timePassage } from './lib/learningTime.mjs';
import { machine, option, root, writeResults } from './lib/measure.mjs';
import { readPassages } from './lib/passages.mjs';
import { earlierRuns, fingerprint } from './lib/resume.mjs';

const reportedSecondsChars = 1000;
const allParts = ['alone', 'gold', 'chain'];
const sets = ['passages', 'second', 'third'];

export default async function bench(args) {
  const modelDir = resolve(option(args, 'model', join(root, 'models/base')));
  const set = option(args, 'set', 'passages');
  if (!sets.includes(set)) throw new Error(`--set: ${set} is none of ${sets.join(', ')}`);
  const all = readPassages(set);
  const passageCount = Number(option(args, 'passages', String(all.length)));
  const seeds = Array.from({ length: Number(option(args, 'seeds', '3')) }, (_, index) => index + 1);
  const chainLength = Number(option(args, 'chain', '8'));
  const threads = Number(option(args, 'threads', '2'));
  const processes = Number(option(args, 'processes', '1'));
  const parts = option(args, 'parts', allParts.join()).split(',');
  const unknown = parts.find((part) => !allParts.includes(part));
  if (unknown !== undefined) throw new Error(`--parts: ${unknown} is none of ${allParts.join(', ')}`);
  const long = option(args, 'long', passageCount < 10 ? 'no' : 'yes') === 'yes';
  const usd = Number(option(args, 'usd', '20'));
  const budget = budgetOf(usd);

  const passages = spreadSample(all, passageCount).map(({ id }) => id);
  const chain = spreadSample(all, chainLength).map(({ id }) => id);
  const model = await describeModel(modelDir);
  const hasAllParts = allParts.every((part) => parts.includes(part));
  const plan = {
    model: model.contentHash,
    preset: await presetOf(modelDir),
    passages: passageCount,
    chain,
    usd,
    ...(hasAllParts ? {} : { parts }),
  };
  const measured = fingerprint(plan, learningSources, [
    join(root, `bench/learning/${set}.jsonl`),
    join(modelDir, 'replay.jsonl'),
  ]);
  const isWhole = passages.length === all.length && hasAllParts;
  const name = [
    'learning',
    ...(set === 'passages' ? [] : [set]),
    ...(modelDir === join(root, 'models/base') ? [] : [basename(modelDir)]),
    ...(isWhole ? [] : ['partial']),
  ].join('-');
  const earlier = join(root, `bench/results/${name}.json`);
  const runs = option(args, 'resume', 'no') === 'yes' ? earlierRuns(earlier, measured) : [];
  const known = runs.map(({ seed }) => seed);
  if (known.length > 0) console.log(`taken over: seed ${known.join(', ')}`);
  const newSeeds = seeds.filter((seed) => !known.includes(seed));
  const lengths = { alone: passages.length, gold: passages.length, chain: chain.length };
  const learnings = parts.reduce((sum, part) => sum + lengths[part], 0);
  const clock = startClock(newSeeds.length * learnings + 1 + (long ? 1 : 0));
  const timings = [];
  const resultsNow = () => ({
    machine: machine(),
    measured,
    model,
    set,
    passages: passages.length,
    seeds: runs.map(({ seed }) => seed),
    chain,
    figures: figuresOf(runs),
    timings,
    runs,
  });
  const learners = newSeeds.length === 0 ? null : startLearners({ modelDir, threads, processes });
  for (const seed of newSeeds) {
    // Base does not depend on the seed, so it is asked once.
    const [first] = runs;
    const work = (part, ids, options) => ({
      set,
      ids: parts.includes(part) ? ids : [],
      options: { budget, seed, gold: false, chainLength: 1, askBase: false, ...options },
      onReport: (report) => clock.tick(`${part}, seed ${seed}: ${describe(report)}`),
    });
    const [chained, gold, alone] = await learners.measure([
      work('chain', chain, { chainLength: chain.length }),
      work('gold', passages, { gold: true }),
      work('alone', passages, { askBase: first === undefined }),
    ]);
    runs.push({
      seed,
      machine: machine(),
      alone: first === undefined ? alone : alone.map((report, index) => withBase(report, first.alone[index])),
      gold,
      chain: chained,
    });
    writeResults(name, resultsNow());
  }
  await learners?.close();

  const short = [...all].sort((a, b) => distance(a) - distance(b)).slice(0, 1);
  for (const [entry] of [short, ...(long ? [readPassages('handbooks')] : [])]) {
    timings.push(await timePassage(entry, { modelDir, threads: threads * processes, budget }));
    clock.tick(`timed: ${JSON.stringify(timings.at(-1))}`);
  }
  const results = resultsNow();
  print(results);
  writeResults(name, results);
  writeFileSync(join(root, `bench/results/${name}.svg`), plot(results));
}

function withBase(report, { base, reading, reading_instructed, read_in_chunks }) {
  return { ...report, base, reading, reading_instructed, read_in_chunks };
}

function distance({ passage }) {
  return Math.abs(passage.length - reportedSecondsChars);
}

function describe({ id, verdict, reading, learned, seconds }) {
  const read = reading === null ? '' : `reading ${reading.right}, `;
  const after = learned === null ? 'nothing learned' : `learned ${learned.right} of ${learned.total}`;
  return `${id} ${verdict}, ${read}${after}, ${seconds.toFixed(1)} s`;
}
