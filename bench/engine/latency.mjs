// How long an answer takes while a training session steps without pause on the same cores, through the engine host as
// the service uses it; and what training gets meanwhile.
import { startEngineHost } from '../../packages/engine/dist/index.js';
import { median, quantile } from '../lib/statistics.mjs';
import { requestOf } from './requests.mjs';

const stepShape = { batch: 8, length: 128, rank: 8 };

/**
 * @param {{ model: { name: string, folder: string }, threads: number, rounds: number, requests: number, outputTokens:
 * number }} plan
 */
export async function measureLatency({ model, threads, rounds, requests, outputTokens }) {
  const engine = await startEngineHost({ modelDir: model.folder, threads });
  const training = await startTraining(engine);
  const times = { idle: [], training: [] };
  const rates = { alone: [], serving: [] };
  for (let round = -1; round < rounds; round += 1) {
    const idle = await answerAll(engine, { requests, outputTokens });
    training.resume();
    // From there on it steps without pause.
    await training.steps(1);
    const aloneRate = await training.rateDuring(() => training.steps(3));
    let busy;
    const servingRate = await training.rateDuring(async () => {
      busy = await answerAll(engine, { requests, outputTokens });
    });
    await training.pause();
    if (round < 0) continue;
    times.idle.push(...idle);
    times.training.push(...busy);
    rates.alone.push(aloneRate);
    rates.serving.push(servingRate);
  }
  await training.close();
  await engine.close();

  const setting = { model: model.name, threads };
  const latency = (name, q) => ({
    figure: `Latency of ${outputTokens} tokens while training, ${name}`,
    ...setting,
    unit: 'ms',
    value: quantile(times.training, q),
    peer: 'the same without training',
    peerValue: quantile(times.idle, q),
    ratio: quantile(times.training, q) / quantile(times.idle, q),
    target: { atMost: 2 },
  });
  return [
    latency('median', 0.5),
    latency('p95', 0.95),
    {
      figure: 'Training while answers are asked for without pause',
      ...setting,
      unit: 'tokens/s',
      value: median(rates.serving),
      peer: 'training alone',
      peerValue: median(rates.alone),
      ratio: median(rates.serving) / median(rates.alone),
      target: null,
    },
  ];
}

/** One request after the other; the time of each in ms. */
async function answerAll(engine, { requests, outputTokens }) {
  const times = [];
  for (let index = 0; index < requests; index += 1) {
    const before = performance.now();
    await engine.generate(requestOf(index, { outputTokens }));
    times.push(performance.now() - before);
  }
  return times;
}

/** A session that steps without pause between `resume` and `pause`. */
async function startTraining(engine) {
  const session = await engine.openTraining({ parent: null, rank: stepShape.rank, alpha: 2 * stepShape.rank, seed: 1 });
  const { vocabularySize } = await engine.describe();
  const batch = Array.from({ length: stepShape.batch }, (_, row) => {
    const tokens = Array.from({ length: stepShape.length }, (__, index) => (row * 389 + index * 7) % vocabularySize);
    return { sequence: { tokens, targetStart: 1 }, weight: 1 };
  });
  let running = false;
  let loop = Promise.resolve();
  /** When each step ended, in ms. */
  const ends = [];
  const run = async () => {
    while (running) {
      await session.step(batch, 1e-4);
      ends.push(performance.now());
    }
  };
  return {
    resume: () => {
      running = true;
      loop = run();
    },
    pause: async () => {
      running = false;
      await loop;
    },
    /** Resolves when so many more steps have ended. */
    steps: async (count) => {
      const target = ends.length + count;
      while (ends.length < target) await new Promise((resolve) => setTimeout(resolve, 5));
    },
    /** Tokens per second from the last step that ended before `work` to the first that ended after it. */
    rateDuring: async (work) => {
      if (ends.length === 0) await new Promise((resolve) => setTimeout(resolve, 0));
      const from = performance.now();
      const stepsBefore = ends.length;
      await work();
      const target = ends.length + 1;
      while (ends.length < target) await new Promise((resolve) => setTimeout(resolve, 5));
      const first = ends[stepsBefore - 1] ?? from;
      return ((ends.length - stepsBefore) * stepShape.batch * stepShape.length * 1e3) / (ends.at(-1) - first);
    },
    close: () => session.close(),
  };
}
