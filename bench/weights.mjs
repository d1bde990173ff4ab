// What learning takes and is worth with weights of 32, 8 and 4 bits.
//
// npm run bench -- weights --model DIR [--formats f32,q8,q4] [--passages 50] [--seeds 1] [--threads 1] [--anew]
//
// Passages of bench/learning/passages.jsonl are learned by themselves, on their right pairs: the first wording of each
// question is trained, the other asked, without the passage. Every format takes its turn with each passage, in an
// engine of its own (all of them are in memory), with the same pairs, recipe and seed, and rehearses its own replies.
// Whatever is done stands in bench/results/weights-partial.json, which git ignores, so that the command can be stopped
// and goes on; more passages, seeds and formats are added to it. `--anew` begins from nothing.
// Writes bench/results/weights.json in the end.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startEngineHost } from '../packages/engine/dist/index.js';
import { measurePassages } from '../packages/evaluation/dist/index.js';
import { spreadSample } from '../packages/learning/dist/index.js';
import { startClock } from './lib/clock.mjs';
import { watchEngine } from './lib/engineWatch.mjs';
import { budgetOf, describeModel, learningSources, presetOf } from './lib/learningInputs.mjs';
import { learningMethodOf } from './lib/learningMethod.mjs';
import { machine, option, positive, root, wholeNumber, withLoadNote, writeResults } from './lib/measure.mjs';
import { readPassages } from './lib/passages.mjs';
import { fingerprint, keepRuns } from './lib/resume.mjs';
import { figuresOf, print } from './lib/weightsFigures.mjs';

const allFormats = ['f32', 'q8', 'q4'];
/** Enough for every step. */
const budget = budgetOf(20);

export default async function bench(args) {
  const plan = readPlan(args);
  const model = await describeModel(plan.modelDir);
  const file = join(root, 'bench/results/weights-partial.json');
  if (plan.anew) rmSync(file, { force: true });
  const measured = fingerprint({ model: model.contentHash, preset: await presetOf(plan.modelDir) }, learningSources, [
    join(root, 'bench/learning/passages.jsonl'),
    join(plan.modelDir, 'replay.jsonl'),
  ]);
  const store = keepRuns(file, measured, { model });
  const wanted = runsOf(plan);
  const find = (run) => store.runs.find((each) => keyOf(each) === keyOf(run));
  const missing = wanted.filter((run) => find(run) === undefined);
  if (missing.length < wanted.length) console.log(`taken over: ${wanted.length - missing.length} of ${wanted.length}`);
  await measure(missing, plan, store);
  const runs = wanted.map(find);
  const facts = { machine: withLoadNote(machine()), measured, model, threads: plan.threads };
  const results = { ...facts, figures: figuresOf(runs, plan.formats), runs };
  print(results);
  writeResults('weights', results);
}

function readPlan(args) {
  const model = option(args, 'model');
  if (model === undefined) throw new Error('--model DIR is needed: the folder of a checkpoint');
  const formats = option(args, 'formats', allFormats.join()).split(',');
  const unknown = formats.find((format) => !allFormats.includes(format));
  if (unknown !== undefined) throw new Error(`--formats: ${unknown} is none of ${allFormats.join(', ')}`);
  return {
    modelDir: resolve(model),
    formats,
    passages: spreadSample(readPassages('passages'), positive(args, 'passages', '50')),
    seeds: option(args, 'seeds', '1')
      .split(',')
      .map((seed) => wholeNumber('seeds', seed)),
    threads: positive(args, 'threads', '1'),
    anew: args.includes('--anew'),
  };
}

/** The formats of a passage one after the other, so that a run that is stopped can compare them. */
function runsOf({ seeds, passages, formats }) {
  return seeds.flatMap((seed) => passages.flatMap(({ id }) => formats.map((format) => ({ id, seed, format }))));
}

function keyOf({ id, seed, format }) {
  return `${id} ${seed} ${format}`;
}

async function measure(runs, { modelDir, threads, passages }, store) {
  const engines = new Map();
  const cacheFolder = mkdtempSync(join(tmpdir(), 'engraft-weights-'));
  const clock = startClock(runs.length);
  try {
    for (const { id, seed, format } of runs) {
      if (!engines.has(format)) engines.set(format, await startEngine({ modelDir, threads, format, cacheFolder }));
      const entry = passages.find((passage) => passage.id === id);
      const run = { id, seed, format, ...(await learn(entry, seed, engines.get(format))) };
      store.add(run);
      clock.tick(describe(run));
    }
  } finally {
    for (const { engine } of engines.values()) await engine.close();
    rmSync(cacheFolder, { recursive: true, force: true });
  }
}

async function startEngine({ modelDir, threads, format, cacheFolder }) {
  const engine = await startEngineHost({ modelDir, threads, weightFormat: format, cacheFolder });
  try {
    return { engine, method: await learningMethodOf(engine, modelDir) };
  } catch (error) {
    await engine.close();
    throw error;
  }
}

async function learn(entry, seed, { engine, method }) {
  const watch = watchEngine(engine);
  try {
    const options = { budget, method, seed, gold: true, chainLength: 1, askBase: false, askCanaries: false };
    const [report] = await measurePassages(engine, [entry], options);
    return { report, engine: watch.figures() };
  } finally {
    watch.stop();
  }
}

function describe({ id, format, report: { unseen, steps }, engine }) {
  const { training_gb, training_cpu_seconds } = engine;
  const took = `${training_gb.toFixed(2)} GB, ${training_cpu_seconds.toFixed(0)} processor seconds`;
  return `${id} ${format}: ${unseen.right} of ${unseen.total}, ${steps} steps, ${took}`;
}
