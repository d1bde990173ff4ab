// A LoRA step against the same step of PyTorch with PEFT, and against ONNX Runtime's own matrix product.
import { EmbeddedEngine } from '../../packages/engine/dist/index.js';
import { createRandom } from '../../packages/engine/dist/support/random.js';
import { gemm, gemmFlop, stepFlop } from '../lib/matrixWork.mjs';
import { measureInTurn } from '../lib/measure.mjs';
import { median, pairedRatio } from '../lib/statistics.mjs';
import { readModel } from './models.mjs';
import { startTorch } from './peers.mjs';
import { chooseWays, precisionNames, requireSameLoss, tryPrecisions } from './peerWays.mjs';

const stepShape = { batch: 8, length: 128, rank: 8 };
const learningRate = 1e-4;

/**
 * The peer is PyTorch in each of the ways `torchWaiting`, see `startTorch`, and in each of `precisionNames`.
 * @param {object} plan
 * @param {{ name: string, width: number, folder: string }[]} plan.models
 * @param {number[]} plan.threadCounts
 * @param {number} plan.rounds
 * @param {('active' | 'passive')[]} plan.torchWaiting
 */
export async function measureTraining({ models, threadCounts, rounds, torchWaiting }) {
  const processes = {};
  for (const waiting of torchWaiting) processes[waiting] = await startTorch(waiting);
  const rows = [];
  for (const model of models) {
    const { config } = await readModel(model.folder);
    const tokens = randomTokens(config.vocabularySize);
    const { folder, name } = model;
    let versions;
    for (const torch of Object.values(processes)) {
      versions = await torch.call({
        op: 'load',
        name,
        folder,
        tokens,
        rank: stepShape.rank,
        alpha: 2 * stepShape.rank,
      });
    }
    const batch = tokens.map((sequence) => ({ sequence: { tokens: sequence, targetStart: 1 }, weight: 1 }));
    for (const threads of threadCounts) {
      // A process that only trains may compute otherwise than one that also serves.
      const engine = await EmbeddedEngine.open({ modelDir: folder, threads }, 'training');
      const training = await openTraining(engine);
      if (threads === threadCounts[0]) await checkSameWork(training, batch, Object.values(processes), name, threads);
      const ways = await tryWays(processes, name, threads);
      const measured = ways.filter(({ isMeasured }) => isMeasured);
      const samples = await measureInTurn(
        {
          engraft: () => training.step(batch, learningRate),
          ...Object.fromEntries(measured.map((way) => [way.precision, way.step])),
          gemm: await gemm(model.width, threads),
        },
        rounds,
      );
      await engine.close();
      rows.push(...rowsOf({ model, threads, config, versions, ways, samples }));
    }
  }
  for (const torch of Object.values(processes)) await torch.close();
  return rows;
}

function openTraining(engine) {
  const { rank } = stepShape;
  return engine.openTraining({ parent: null, rank, alpha: 2 * rank, seed: 1, clipNorm: 1 });
}

async function checkSameWork(training, batch, processes, name, threads) {
  const { loss } = await training.evaluate(batch);
  for (const torch of processes) requireSameLoss(loss, (await torch.call({ op: 'loss', name, threads })).loss);
}

/** One for each precision, with how a step is made in it. */
async function tryWays(processes, name, threads) {
  const stepIn = (waiting) => (precision) =>
    processes[waiting].call({ op: 'step', name, threads, precision, learning_rate: learningRate });
  const trials = [];
  for (const waiting of Object.keys(processes)) {
    trials.push(...(await tryPrecisions(waiting, stepIn(waiting), trials)));
  }
  return chooseWays(trials).map((way) => ({ ...way, step: () => stepIn(way.waiting)(way.precision) }));
}

function rowsOf({ model, threads, config, versions, ways, samples }) {
  const { engraft, gemm: product } = samples;
  const gigaflops = (flop, { wall_s }) => wall_s.map((seconds) => flop / seconds / 1e9);
  const ours = gigaflops(stepFlop(config, stepShape), engraft);
  const theirs = gigaflops(gemmFlop(model.width), product);
  const setting = { model: model.name, threads };
  const secondsOf = ({ precision, seconds }) => (precision in samples ? median(samples[precision].wall_s) : seconds);
  return [
    ...[...ways]
      .sort((a, b) => secondsOf(a) - secondsOf(b))
      .map((way, place) => ({
        // The fastest way counts.
        figure: place === 0 ? 'LoRA step' : `LoRA step, peer in ${precisionNames[way.precision]}`,
        ...setting,
        unit: 'tokens/s',
        ...againstWay(engraft, samples[way.precision], way),
        peer: peerName(way, versions),
        target: place === 0 ? { atLeast: 1.2 } : null,
      })),
    {
      figure: 'LoRA step, counted products',
      ...setting,
      unit: 'GFLOP/s',
      value: median(ours),
      peer: `ONNX Runtime's product at width ${model.width}`,
      peerValue: median(theirs),
      ratio: pairedRatio(ours, theirs),
      target: model.width >= 512 ? { atLeast: 0.85 } : null,
    },
  ];
}

/** A way that was only tried has one step to compare with. */
function againstWay(engraft, torch, { seconds }) {
  const tokens = stepShape.batch * stepShape.length;
  const perSecond = (times) => times.map((time) => tokens / time);
  const ours = perSecond(engraft.wall_s);
  if (torch === undefined) {
    return { value: median(ours), peerValue: tokens / seconds, ratio: (median(ours) * seconds) / tokens };
  }
  const theirs = perSecond(torch.wall_s);
  return {
    value: median(ours),
    peerValue: median(theirs),
    ratio: pairedRatio(ours, theirs),
    ratioByCpuTime: pairedRatio(torch.cpu_s, engraft.cpu_s),
  };
}

function peerName({ precision, waiting, isMeasured }, { torch, peft }) {
  const tried = isMeasured ? '' : ', one step only';
  return `PyTorch ${torch} + PEFT ${peft}, ${precisionNames[precision]}, OpenMP ${waiting}${tried}`;
}

function randomTokens(vocabularySize) {
  const random = createRandom(1);
  const token = () => Math.floor(random.next() * vocabularySize);
  return Array.from({ length: stepShape.batch }, () => Array.from({ length: stepShape.length }, token));
}
