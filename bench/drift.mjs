// How far learning moves replies to unrelated questions: the divergence of versions from base.
//
// npm run bench -- drift --data FILE [--model DIR] [--paragraphs 5] [--replies 200] [--seed 1] [--usd 20] [--threads 2]
//
// FILE is SQuAD's training file in any of its formats, compressed or not. Each of some paragraphs that `bench -- seal`
// reports on is learned by itself. Base is asked questions about other paragraphs, without any passage. On its replies
// each version is compared with base: the forward Kullback-Leibler divergence over base's twenty likeliest tokens, and
// how much less likely the tokens that base said have become. Writes bench/results/drift-FOLDER.json, after the model's
// folder.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { startEngineHost } from '../packages/engine/dist/index.js';
import { phrasingsOf } from '../packages/evaluation/dist/index.js';
import { learnPassage } from '../packages/learning/dist/index.js';
import { adapterIn } from '../packages/learning/dist/parts.js';
import { startClock } from './lib/clock.mjs';
import { baseReplies, costOf, divergenceOf } from './lib/divergence.mjs';
import { budgetOf, describeModel } from './lib/learningInputs.mjs';
import { learningMethodOf } from './lib/learningMethod.mjs';
import { machine, option, positive, root, writeResults } from './lib/measure.mjs';
import { chooseParagraphs, readParagraphs } from './lib/squadParagraphs.mjs';

const maxReplyTokens = 32;

export default async function bench(args) {
  const plan = readPlan(args);
  const paragraphs = readParagraphs(plan.data);
  const passages = chooseParagraphs(paragraphs, { count: plan.paragraphs, development: false });
  // Titles of the other half, of which nothing is learned here.
  const others = chooseParagraphs(paragraphs, { count: plan.replies, development: true });
  if (passages.length === 0 || others.length === 0)
    throw new Error(`--data: ${plan.data} has no fitting paragraphs of titles kept apart, in both halves of them`);
  const asked = others.map((other) => phrasingsOf(other)[0].question);
  const started = machine();
  const model = await describeModel(plan.modelDir);
  const folder = mkdtempSync(join(tmpdir(), 'engraft-drift-'));
  const engine = await startEngineHost({ modelDir: plan.modelDir, threads: plan.threads });
  try {
    const method = await learningMethodOf(engine, plan.modelDir);
    const replies = await baseReplies(engine, asked.map(method.recipe.prompts.closedBook), maxReplyTokens);
    const base = await costOf(engine, replies, null);
    const clock = startClock(passages.length);
    const versions = [];
    for (const passage of passages) {
      const { verdict, adapter } = await learn(engine, passage, { ...plan, method, folder });
      const moved = adapter === null ? null : divergenceOf(base, await costOf(engine, replies, adapter));
      versions.push({ id: passage.id, verdict, ...moved });
      clock.tick(JSON.stringify(versions.at(-1)));
    }
    const figures = means(versions);
    console.log(JSON.stringify(figures));
    const { data, seed, threads } = plan;
    const facts = { machine: started, model, data: basename(data), seed, threads, replies: replies.length };
    const results = { ...facts, versions, ...figures };
    writeResults(`drift-${basename(plan.modelDir)}`, results);
  } finally {
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function readPlan(args) {
  const data = option(args, 'data');
  if (data === undefined) throw new Error('--data FILE is needed: paragraphs with questions, as SQuAD has them');
  return {
    modelDir: resolve(option(args, 'model', join(root, 'models/base'))),
    data: resolve(data),
    paragraphs: positive(args, 'paragraphs', '5'),
    replies: positive(args, 'replies', '200'),
    seed: positive(args, 'seed', '1'),
    usd: positive(args, 'usd', '20'),
    threads: positive(args, 'threads', '2'),
  };
}

/** The version of a passage, even if the gate rejected it. `adapter` is `null` if nothing was trained. */
async function learn(engine, { id, passage }, { method, seed, usd, folder }) {
  const workFolder = join(folder, id);
  let training = null;
  const journal = {
    load: async () => null,
    entered: async () => {},
    store: async (phase, { outcome }) => {
      if (phase === 'training') training = outcome;
    },
  };
  const input = {
    content: passage,
    parent: null,
    earlier: [],
    budget: budgetOf(usd),
    seed,
    isolationKey: id,
    workFolder,
  };
  const { kind } = await learnPassage(engine, { ...input, ...method }, journal);
  return { verdict: kind, adapter: training === null ? null : adapterIn(workFolder, training) };
}

/** Over the versions that are served. */
function means(versions) {
  const served = versions.filter(({ verdict }) => verdict === 'accepted');
  if (served.length === 0) return { served: 0 };
  const mean = (name) => served.reduce((sum, version) => sum + version[name], 0) / served.length;
  return { served: served.length, kl_nats: mean('kl_nats'), drift_nats: mean('drift_nats') };
}
