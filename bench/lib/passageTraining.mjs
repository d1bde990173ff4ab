// One training made by the engine and by PyTorch with PEFT: the same rows and rates in turn, from the same adapter.
import { mkdir } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { hashAdapterFolder } from '../../packages/engine/dist/index.js';
import { startTorch } from '../engine/peers.mjs';
import { chooseWays, precisionNames, requireSameLoss, tryPrecisions } from '../engine/peerWays.mjs';
import { cpuSeconds } from './processFigures.mjs';

/** Rows of a trial step: enough to tell the ways apart. */
const trialRows = 4;

/**
 * The processes of the peer, one for each precision, in the faster of the ways in which their threads may wait.
 * @param {{ modelDir: string, threads: number, waitings: ('active' | 'passive')[] }} options
 */
export function createPeers({ modelDir, threads, waitings }) {
  let started;
  const load = async (waiting, niceness) => {
    const torch = await startTorch(waiting, { script: 'torchTraining.py', niceness });
    return { torch, versions: await torch.call({ op: 'load', folder: modelDir, threads }) };
  };
  const start = async (trial, niceness) => {
    const trials = [];
    for (const waiting of waitings) {
      const { torch } = await load(waiting, niceness);
      const step = async (precision) => {
        await torch.call({ op: 'begin', ...trial.beginning, precision });
        return torch.call({ op: 'step', rows: trial.rows, learning_rate: 0 });
      };
      trials.push(...(await tryPrecisions(waiting, step, trials)));
      await torch.close();
    }
    const ways = chooseWays(trials);
    const measured = [];
    for (const way of ways.filter(({ isMeasured }) => isMeasured)) {
      measured.push({ ...way, ...(await load(way.waiting, niceness)) });
    }
    return { ways, measured };
  };
  return {
    /** Tried and started when first asked for: with the first rows of a training, and its priority. */
    ready: (trial, niceness) => (started ??= start(trial, niceness)),
    close: async () => {
      const { measured } = (await started) ?? { measured: [] };
      for (const { torch } of measured) await torch.close();
    },
  };
}

/**
 * Trains what was recorded with the engine and with each way of the peer that is worth it. They take turns step by
 * step, so that load that comes and goes slows all alike.
 * @param {object} job
 * @param {{ options: object, steps: { batch: object[], rate: number }[] }} job.recorded see `recordTraining`
 * @param {ReturnType<typeof createPeers>} job.peers
 * @param {string} job.folder for the adapters
 * @param {(done: number, contestants: object[]) => void} job.onStep
 * @returns what each took, with its adapter, and the ways in which the peer was tried
 */
export async function trainInTurn({ engine, recorded, peers, folder, onStep }) {
  const { options, steps } = recorded;
  const [{ batch: firstBatch }] = steps;
  await mkdir(folder, { recursive: true });
  // PEFT protects no directions.
  const session = await engine.openTraining({ ...options, protectedDirections: [] });
  try {
    const [pid] = engine.trainingPids;
    const start = await session.save(join(folder, 'start'));
    const beginning = {
      adapter: start.folder,
      betas: options.betas,
      weight_decay: options.weightDecay,
      clip_norm: options.clipNorm,
    };
    const trial = { beginning, rows: toRows(firstBatch.slice(0, trialRows)) };
    const { ways, measured } = await peers.ready(trial, getPriority(pid));
    const { loss: ownLoss } = await session.evaluate(firstBatch);
    const contestants = [ourContestant(session, pid, ownLoss)];
    for (const way of measured) {
      await way.torch.call({ op: 'begin', ...beginning, precision: way.precision });
      const { loss } = await way.torch.call({ op: 'loss', rows: toRows(firstBatch) });
      requireSameLoss(ownLoss, loss);
      contestants.push(peerContestant(way, loss));
    }
    for (const [index, { batch, rate }] of steps.entries()) {
      for (const contestant of contestants) addStep(contestant, await contestant.step(batch, rate));
      onStep(index + 1, contestants);
    }
    for (const [index, contestant] of contestants.entries()) {
      await saveAdapter(contestant, join(folder, `adapter-${index}`));
    }
    return { contestants, ways };
  } finally {
    await session.close();
  }
}

function contestant(name, lossBefore, calls) {
  const taken = { lossBefore, losses: [], stepSeconds: [], cpuSeconds: 0, savingSeconds: 0, adapter: null };
  return { name, ...taken, ...calls };
}

function ourContestant(session, pid, lossBefore) {
  const timed = async (work) => {
    const [before, cpuBefore] = [performance.now(), cpuSeconds(pid)];
    const result = await work();
    return { ...result, wall_s: (performance.now() - before) / 1e3, cpu_s: cpuSeconds(pid) - cpuBefore };
  };
  return contestant('Engraft', lossBefore, {
    step: (batch, rate) => timed(() => session.step(batch, rate)),
    save: (folder) => timed(() => session.save(folder)),
  });
}

function peerContestant({ torch, precision, waiting, versions }, lossBefore) {
  const calls = {
    step: (batch, rate) => torch.call({ op: 'step', rows: toRows(batch), learning_rate: rate }),
    save: (folder) => torch.call({ op: 'save', folder }),
  };
  return { ...contestant(`PyTorch + PEFT, ${precisionNames[precision]}`, lossBefore, calls), waiting, versions };
}

function addStep(contestant, { loss, wall_s, cpu_s }) {
  contestant.losses.push(loss);
  contestant.stepSeconds.push(wall_s);
  contestant.cpuSeconds += cpu_s;
}

async function saveAdapter(contestant, folder) {
  const { wall_s, cpu_s } = await contestant.save(folder);
  contestant.savingSeconds = wall_s;
  contestant.cpuSeconds += cpu_s;
  contestant.adapter = { folder, contentHash: await hashAdapterFolder(folder) };
}

/** Examples as `torchTraining.py` takes them. */
export function toRows(batch) {
  return batch.map(({ sequence: { tokens, targetStart }, weight, softTargets, targetWeights }) => ({
    tokens,
    target_start: targetStart,
    weight,
    soft_targets: softTargets ?? null,
    target_weights: targetWeights ?? null,
  }));
}
