// How much less a training step takes when an adapter changes the upper layers only (`firstLayer`).
//
// npm run bench -- upper-layers --model DIR [--first 10,15,20] [--threads 2] [--rounds 7]
//
// A step has eight rows of 78 tokens, of which the first 20 are the same and the last 40 are targets, as where answers
// are sentences. The rows come again in each step, so that what lies below the adapter has been computed before, as
// after the first pass over a passage. The steps take turns, and each is set against the step of all layers.
// Writes bench/results/upper-layers.json.
import { resolve } from 'node:path';
import { EmbeddedEngine } from '../packages/engine/dist/index.js';
import { describeModel } from './lib/learningInputs.mjs';
import { machine, measureInTurn, option, withLoadNote, writeResults } from './lib/measure.mjs';
import { median, pairedRatio } from './lib/statistics.mjs';

const rowTokens = 78;
const sharedTokens = 20;
const targetTokens = 40;

export default async function bench(args) {
  const modelDir = option(args, 'model');
  if (modelDir === undefined) throw new Error('--model DIR is needed: a checkpoint of many layers');
  const threads = Number(option(args, 'threads', '2'));
  const rounds = Number(option(args, 'rounds', '7'));
  const firstLayers = option(args, 'first', '10,15,20').split(',').map(Number);
  const { vocabularySize, ...model } = await describeModel(resolve(modelDir));
  const engine = await EmbeddedEngine.open({ modelDir: resolve(modelDir), threads });
  const batch = Array.from({ length: 8 }, (_, row) => rowOf(row, vocabularySize));
  const sessions = [];
  for (const firstLayer of [0, ...firstLayers])
    sessions.push([firstLayer, await engine.openTraining({ parent: null, rank: 8, alpha: 16, seed: 1, firstLayer })]);
  const steps = sessions.map(([firstLayer, session]) => [`from ${firstLayer}`, () => session.step(batch, 1e-3)]);
  const samples = await measureInTurn(Object.fromEntries(steps), rounds);
  for (const [, session] of sessions) await session.close();
  await engine.close();
  const all = samples['from 0'].wall_s;
  const figures = sessions.map(([firstLayer]) => {
    const seconds = samples[`from ${firstLayer}`].wall_s;
    return { first_layer: firstLayer, step_seconds: median(seconds), share: pairedRatio(seconds, all) };
  });
  for (const { first_layer, step_seconds, share } of figures)
    console.log(`from layer ${first_layer}: ${step_seconds.toFixed(2)} s a step, ${share.toFixed(2)} of all layers`);
  writeResults('upper-layers', { machine: withLoadNote(machine()), model, threads, figures });
}

function rowOf(row, vocabularySize) {
  const token = (index) => (index < sharedTokens ? 100 + index : (row * 977 + index * 131) % vocabularySize);
  const tokens = Array.from({ length: rowTokens }, (_, index) => token(index));
  return { weight: 1, sequence: { tokens, targetStart: rowTokens - targetTokens } };
}
