// The time from a passage's rows to a trained adapter, against PyTorch with PEFT in float32 and under autocast.
//
// npm run bench -- passage --model DIR [--passages 3] [--threads 2] [--waiting active,passive] [--seed 1] [--steps N]
// npm run bench -- passage --model DIR --memory [--threads 2] [--seed 1]
//
// The pipeline teaches and scores each passage of bench/learning/passages.jsonl once. What it would train then is
// trained by all: the same rows, weights and rates, from the same adapter. Our engine asks the held-out questions of
// each adapter. `--steps` trains the first so many steps only: for trials.
// Writes bench/results/passage.json and .svg, with --memory passage-memory.json; with --steps passage-partial.*, which
// git ignores.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startEngineHost } from '../packages/engine/dist/index.js';
import { ask, isRight } from '../packages/evaluation/dist/index.js';
import { spreadSample } from '../packages/learning/dist/index.js';
import { budgetOf, describeModel } from './lib/learningInputs.mjs';
import { learningMethodOf } from './lib/learningMethod.mjs';
import { machine, option, positive, root, withLoadNote, writeResults } from './lib/measure.mjs';
import { figuresOf, plot, print, printMemory } from './lib/passageFigures.mjs';
import { measureMemory } from './lib/passageMemory.mjs';
import { readPassages } from './lib/passages.mjs';
import { createPeers, trainInTurn } from './lib/passageTraining.mjs';
import { recordTraining, tokensOf } from './lib/recordedTraining.mjs';

/** Enough for every step of the longest passage. */
const budget = budgetOf(20);
const progressSeconds = 10;

export default async function bench(args) {
  const plan = readPlan(args);
  const started = withLoadNote(machine());
  const model = await describeModel(plan.modelDir);
  const folder = mkdtempSync(join(tmpdir(), 'engraft-passage-'));
  try {
    const facts = { machine: started, model, threads: plan.threads, seed: plan.seed };
    if (plan.memory) await benchMemory(plan, facts, folder);
    else await benchTraining(plan, facts, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readPlan(args) {
  const model = option(args, 'model');
  if (model === undefined) throw new Error('--model DIR is needed: the folder of a checkpoint');
  const waitings = option(args, 'waiting', 'active,passive').split(',');
  const unknown = waitings.find((waiting) => !['active', 'passive'].includes(waiting));
  if (unknown !== undefined) throw new Error(`--waiting: ${unknown} is neither active nor passive`);
  return {
    modelDir: resolve(model),
    passages: spreadSample(readPassages('passages'), positive(args, 'passages', '3')),
    threads: positive(args, 'threads', '2'),
    seed: positive(args, 'seed', '1'),
    steps: args.includes('--steps') ? positive(args, 'steps') : Infinity,
    waitings,
    memory: args.includes('--memory'),
  };
}

async function benchMemory({ modelDir, threads, passages: [passage], seed }, facts, folder) {
  const input = inputOf(passage, seed, folder);
  const memory = await measureMemory({ modelDir, threads, input, onProgress: progressOf(passage.id) });
  printMemory(memory);
  writeResults('passage-memory', { ...facts, passage: passage.id, ...memory });
}

async function benchTraining(plan, facts, folder) {
  const { modelDir, threads, passages, steps } = plan;
  const engine = await startEngineHost({ modelDir, threads });
  const peers = createPeers(plan);
  try {
    const method = await learningMethodOf(engine, modelDir);
    const measured = [];
    let found = { ways: [] };
    for (const passage of passages) {
      const input = { ...inputOf(passage, plan.seed, join(folder, passage.id)), ...method };
      const one = await measurePassage(passage, { engine, input, peers, steps });
      if (one === null) continue;
      found = one;
      measured.push(one.report);
    }
    if (measured.length === 0) throw new Error('the model found nothing to learn in any of the passages');
    const results = { ...facts, ...found.peer, ways: found.ways, measured, figures: figuresOf(measured) };
    print(results);
    const name = steps === Infinity ? 'passage' : 'passage-partial';
    writeResults(name, results);
    writeFileSync(join(root, `bench/results/${name}.svg`), plot(results));
  } finally {
    await peers.close();
    await engine.close();
  }
}

function inputOf({ id, passage }, seed, workFolder) {
  return { content: passage, parent: null, earlier: [], budget, seed, isolationKey: id, workFolder };
}

/** `null` where the pipeline would train nothing. */
async function measurePassage({ id }, { engine, input, peers, steps: mostSteps }) {
  const progress = progressOf(id);
  const recorded = await recordTraining(engine, input, { onProgress: progress });
  if (recorded === null) {
    console.log(`${id}: the teacher found too little to train`);
    return null;
  }
  const steps = recorded.steps.slice(0, mostSteps);
  const trained = await trainInTurn({
    engine,
    recorded: { ...recorded, steps },
    peers,
    folder: join(input.workFolder, 'trained'),
    onStep: (done, contestants) => progress({ phase: describeTimes(contestants), done, total: steps.length }),
  });
  const { contestants, ways } = trained;
  const questions = heldOutOf(recorded.scoring);
  const base = await countRight(engine, questions, null, input.recipe);
  const rows = [];
  for (const contestant of contestants) {
    const right = await countRight(engine, questions, contestant.adapter, input.recipe);
    rows.push({ ...reportOf(contestant), right });
  }
  const report = {
    id,
    facts: recorded.scoring.facts.length,
    phaseSeconds: recorded.phaseSeconds,
    steps: steps.length,
    tokens: steps.reduce((sum, { batch }) => sum + tokensOf(batch), 0),
    heldOut: { total: questions.length, base },
    contestants: rows,
  };
  return { report, ways, peer: { versions: contestants.at(-1).versions } };
}

function reportOf({ name, stepSeconds, savingSeconds, cpuSeconds, lossBefore, losses }) {
  return {
    name,
    seconds: sum(stepSeconds) + savingSeconds,
    savingSeconds,
    cpuSeconds,
    lossBefore,
    firstLoss: losses[0],
    lastLoss: losses.at(-1),
  };
}

function heldOutOf({ facts }) {
  return facts.flatMap(({ answer, validation }) => validation.map(({ question }) => ({ question, answers: [answer] })));
}

async function countRight(engine, questions, adapter, { prompts, evaluating: { maxAnswerTokens } }) {
  const asked = questions.map(({ question }) => prompts.closedBook(question));
  const given = await ask(engine, asked, adapter, { maxAnswerTokens });
  return questions.filter((question, index) => isRight(question, given[index])).length;
}

/** A line now and then. */
function progressOf(id) {
  let [lastAt, lastPhase] = [0, ''];
  return ({ phase, done, total }) => {
    const now = performance.now();
    const name = phase.split(':')[0];
    if (name === lastPhase && now - lastAt < progressSeconds * 1e3 && done < total) return;
    [lastAt, lastPhase] = [now, name];
    console.log(`${id}: ${phase}, ${done} of ${total}`);
  };
}

function describeTimes(contestants) {
  const times = contestants.map(({ name, stepSeconds }) => `${name} ${sum(stepSeconds).toFixed(1)} s`);
  return `training: ${times.join(', ')}`;
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
