// A LoRA step against the same step of PyTorch with PEFT, and against ONNX Runtime's own matrix product.
import { EmbeddedEngine } from '../../packages/engine/dist/index.js';
import { createRandom } from '../../packages/engine/dist/random.js';
import { gemm, gemmFlop, stepFlop } from '../lib/matrixWork.mjs';
import { measureInTurn } from '../lib/measure.mjs';
import { median, pairedRatio } from '../lib/statistics.mjs';
import { readModel } from './models.mjs';
import { startTorch } from './peers.mjs';

const STEP = { batch: 8, length: 128, rank: 8 };
const LEARNING_RATE = 1e-4;

/**
 * The peer is PyTorch in the faster of the ways `torchWaiting`, see `startTorch`.
 * @param {{ models: Awaited<ReturnType<typeof import('./models.mjs').makeModels>>, threadCounts: number[], rounds: number, torchWaiting: ('active' | 'passive')[] }} plan
 */
export async function measureTraining({ models, threadCounts, rounds, torchWaiting }) {
  const peers = {};
  for (const waiting of torchWaiting) peers[`torch, OpenMP ${waiting}`] = await startTorch(waiting);
  const rows = [];
  for (const model of models) {
    const { config } = await readModel(model.folder);
    const tokens = randomTokens(config.vocabularySize);
    const { folder, name } = model;
    let versions;
    for (const torch of Object.values(peers)) {
      versions = await torch.call({ op: 'load', name, folder, tokens, rank: STEP.rank, alpha: 2 * STEP.rank });
    }
    for (const threads of threadCounts) {
      const engine = await EmbeddedEngine.open({ modelDir: folder, threads });
      const training = await engine.openTraining({
        parent: null,
        rank: STEP.rank,
        alpha: 2 * STEP.rank,
        seed: 1,
        clipNorm: 1,
      });
      const batch = tokens.map((sequence) => ({ sequence: { tokens: sequence, targetStart: 1 }, weight: 1 }));
      const torchSteps = Object.fromEntries(
        Object.entries(peers).map(([peer, torch]) => [
          peer,
          () => torch.call({ op: 'step', name, threads, learning_rate: LEARNING_RATE }),
        ]),
      );
      if (threads === threadCounts[0]) await checkSameWork(training, batch, Object.values(torchSteps)[0]);
      const engraft = () => training.step(batch, LEARNING_RATE);
      const samples = await measureInTurn({ engraft, ...torchSteps, gemm: await gemm(model.width, threads) }, rounds);
      await engine.close();
      rows.push(...rowsOf({ model, threads, config, versions, samples }));
    }
  }
  for (const torch of Object.values(peers)) await torch.close();
  return rows;
}

/** Before any training both adapters add nothing, so both losses are those of the base model. */
async function checkSameWork(training, batch, torchStep) {
  const ours = await training.evaluate(batch);
  const theirs = await torchStep();
  if (Math.abs(ours.loss - theirs.loss) > 1e-3 * theirs.loss) {
    throw new Error(`the peers compute different things: a loss of ${ours.loss} and one of ${theirs.loss}`);
  }
}

function rowsOf({ model, threads, config, versions, samples: { engraft, gemm: product, ...torches } }) {
  const tokens = STEP.batch * STEP.length;
  const perSecond = (times) => times.wall_s.map((seconds) => tokens / seconds);
  const gigaflops = (flop, { wall_s }) => wall_s.map((seconds) => flop / seconds / 1e9);
  const ours = gigaflops(stepFlop(config, STEP), engraft);
  const theirs = gigaflops(gemmFlop(model.width), product);
  const [[torchName, torch]] = Object.entries(torches).sort(([, a], [, b]) => median(a.wall_s) - median(b.wall_s));
  const setting = { model: model.name, threads };
  return [
    {
      figure: 'LoRA step',
      ...setting,
      unit: 'tokens/s',
      value: median(perSecond(engraft)),
      peer: `PyTorch ${versions.torch} + PEFT ${versions.peft}, ${torchName.split(', ')[1]}`,
      peerValue: median(perSecond(torch)),
      ratio: pairedRatio(perSecond(engraft), perSecond(torch)),
      ratioByCpuTime: pairedRatio(torch.cpu_s, engraft.cpu_s),
      target: { atLeast: 1.2 },
    },
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

function randomTokens(vocabularySize) {
  const random = createRandom(1);
  const token = () => Math.floor(random.next() * vocabularySize);
  return Array.from({ length: STEP.batch }, () => Array.from({ length: STEP.length }, token));
}
