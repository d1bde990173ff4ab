// SEAL's experiment (arXiv:2506.10943, table 2, single passages) with what learns here: SQuAD's questions, asked
// without the passage, before and after learning it.
//
// npm run bench -- seal --data FILE [--model DIR] [--paragraphs 40] [--seeds 1,2,3] [--one-after-another [--chain 8]]
//   [--development] [--usd 20] [--threads 2] [--processes 1] [--anew]
//
// FILE is SQuAD's training file in any of its formats, compressed or not. Of the titles that `engraft teacher train`
// keeps apart one half is for reporting; `--development` takes the other, so that nothing is chosen by the paragraphs
// it is reported on. Each paragraph of 300 to 1,500 characters is learned by itself; with `--one-after-another` also
// in chains, in which all earlier ones are asked again after each. Each adapter is asked the canaries, too.
// NAME is seal-FOLDER, after the model's folder. Whatever is done stands in bench/results/NAME-partial.json
// (NAME-development-partial.json), so that the command can be stopped and goes on; other seeds and more paragraphs are
// added to it. `--anew` begins from nothing. Writes bench/results/NAME.json and .svg in the end; of the half for
// development it only prints.
import { rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { startClock } from './lib/clock.mjs';
import { startLearners } from './lib/learners.mjs';
import { budgetOf, describeModel, learningSources, presetOf } from './lib/learningInputs.mjs';
import { machine, option, positive, root, wholeNumber, writeResults } from './lib/measure.mjs';
import { fingerprint } from './lib/resume.mjs';
import { figuresOf, plot, print, published } from './lib/sealFigures.mjs';
import { openStore } from './lib/sealStore.mjs';
import { chooseParagraphs, readParagraphs } from './lib/squadParagraphs.mjs';

export default async function bench(args) {
  const plan = readPlan(args);
  const passages = chooseParagraphs(readParagraphs(plan.data), plan);
  if (passages.length === 0) throw new Error(`--data: ${plan.data} has no fitting paragraph of a title kept apart`);
  const model = await describeModel(plan.modelDir);
  const name = `seal-${basename(plan.modelDir)}`;
  const file = join(root, `bench/results/${name}${plan.development ? '-development' : ''}-partial.json`);
  if (plan.anew) rmSync(file, { force: true });
  const measured = fingerprint(
    { model: model.contentHash, preset: await presetOf(plan.modelDir), half: plan.half, usd: plan.usd },
    learningSources,
    [plan.data, join(plan.modelDir, 'replay.jsonl')],
  );
  const store = openStore(file, measured, { model, half: plan.half });
  const wanted = runsOf(passages, plan);
  const missing = wanted.filter((run) => store.find(run) === undefined);
  if (missing.length < wanted.length) console.log(`taken over: ${wanted.length - missing.length} of ${wanted.length}`);
  await measure(missing, passages, plan, store);
  const runs = wanted.map(store.find);
  const results = {
    machine: machine(),
    measured,
    model,
    data: basename(plan.data),
    half: plan.half,
    paragraphs: passages.length,
    seeds: plan.seeds,
    figures: figuresOf(runs),
    published,
    runs,
  };
  print(results);
  if (plan.development) return;
  writeResults(name, results);
  writeFileSync(join(root, `bench/results/${name}.svg`), plot(results));
}

function readPlan(args) {
  const data = option(args, 'data');
  if (data === undefined) throw new Error('--data FILE is needed: paragraphs with questions, as SQuAD has them');
  const development = args.includes('--development');
  return {
    modelDir: resolve(option(args, 'model', join(root, 'models/base'))),
    data: resolve(data),
    count: positive(args, 'paragraphs', '40'),
    seeds: option(args, 'seeds', '1,2,3')
      .split(',')
      .map((seed) => wholeNumber('seeds', seed)),
    chainLength: args.includes('--one-after-another') ? positive(args, 'chain', '8') : 0,
    development,
    half: development ? 'development' : 'reporting',
    usd: Number(option(args, 'usd', '20')),
    threads: positive(args, 'threads', '2'),
    processes: positive(args, 'processes', '1'),
    anew: args.includes('--anew'),
  };
}

/** Each paragraph by itself, and the chains, for each seed. */
function runsOf(passages, { seeds, chainLength }) {
  const ids = passages.map(({ id }) => id);
  const starts = chainLength === 0 ? [] : ids.flatMap((_, index) => (index % chainLength === 0 ? [index] : []));
  const chains = starts.map((start) => ids.slice(start, start + chainLength)).filter(({ length }) => length > 1);
  return seeds.flatMap((seed) => [
    ...ids.map((id) => ({ part: 'alone', seed, ids: [id] })),
    ...chains.map((chain) => ({ part: 'chain', seed, ids: chain })),
  ]);
}

async function measure(runs, passages, { modelDir, usd, threads, processes }, store) {
  if (runs.length === 0) return;
  const clock = startClock(runs.reduce((sum, { ids }) => sum + ids.length, 0));
  const learners = startLearners({ modelDir, threads, processes });
  const asked = new Set();
  const works = runs.map((run) => {
    const [id] = run.ids;
    // Neither base nor reading depends on the seed.
    const askBase = run.part === 'alone' && !store.hasBase(id) && !asked.has(id);
    if (askBase) asked.add(id);
    const reports = [];
    return {
      passages,
      ids: run.ids,
      options: {
        budget: budgetOf(usd),
        seed: run.seed,
        gold: false,
        chainLength: run.ids.length,
        askBase,
      },
      onReport: (report) => {
        reports.push(report);
        if (reports.length === run.ids.length) store.add({ ...run, reports });
        clock.tick(`${run.part}, seed ${run.seed}: ${describe(report)}`);
      },
    };
  });
  await learners.measure(works);
  await learners.close();
}

function describe({ id, verdict, base, reading, learned, retention, seconds }) {
  const right = (name, tally) =>
    tally === null
      ? []
      : [`${name} ${tally.right} of ${tally.total} (F1 ${(100 * (tally.f1_sum / tally.total)).toFixed(0)} %)`];
  const earlier = retention === null ? [] : [`earlier ${retention.all_after.right} of ${retention.all_before.right}`];
  const parts = [...right('base', base), ...right('reading', reading), ...right('learned', learned), ...earlier];
  return `${id} ${verdict}, ${parts.join(', ')}, ${seconds.toFixed(1)} s`;
}
