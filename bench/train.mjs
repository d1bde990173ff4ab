// How fast a LoRA step is, and which share of ONNX Runtime's own matrix-product speed it reaches.
//
// npm run bench -- train [--threads 1,2] [--rounds 5]
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadWeights } from '../packages/engine/dist/checkpoint/weightFiles.js';
import { readModelConfig } from '../packages/engine/dist/checkpoint/modelConfig.js';
import { openTrainingSession } from '../packages/engine/dist/lora/trainingSession.js';
import { weightFeeds } from '../packages/engine/dist/model/inputs.js';
import { decoderWeightShapes } from '../packages/engine/dist/model/weights.js';
import { createRandom } from '../packages/engine/dist/support/random.js';
import { gemm, gemmRows, gemmFlop, stepFlop } from './lib/matrixWork.mjs';
import { machine, measureInterleaved, option, root, writeResults } from './lib/measure.mjs';

const batchSize = 8;
const sequenceTokens = 128;
const loraRank = 16;
const stepShape = { batch: batchSize, length: sequenceTokens, rank: loraRank };

/** Two layers of a 0.5-billion-parameter shape, with a smaller vocabulary. */
const wide = {
  architecture: 'llama',
  vocabularySize: 8192,
  hiddenSize: 896,
  layers: 2,
  heads: 14,
  kvHeads: 2,
  headDim: 64,
  ffnSize: 4864,
  rmsNormEps: 1e-6,
  ropeTheta: 1e6,
  ropeScaling: { kind: 'default' },
  tieWordEmbeddings: true,
  contextLength: 1024,
  qkNorm: false,
  attentionBias: false,
};
/** Used if there is no models/base. */
const small = { ...wide, hiddenSize: 384, layers: 12, heads: 6, kvHeads: 2, ffnSize: 1024 };

export default async function bench(args) {
  const threadCounts = option(args, 'threads', '1,2').split(',').map(Number);
  const rounds = Number(option(args, 'rounds', '5'));
  const models = [
    await baseModel(),
    { name: 'random, width 896, 2 layers', config: wide, weights: randomWeights(wide) },
  ];
  const widths = [...new Set([...models.map(({ config }) => config.hiddenSize), 896, 1024])].sort((a, b) => a - b);
  const results = {
    machine: machine(),
    batch: batchSize,
    length: sequenceTokens,
    rank: loraRank,
    rounds,
    gemm: [],
    steps: [],
  };

  for (const threads of threadCounts) {
    const workloads = {};
    for (const width of widths) workloads[`gemm ${width}`] = await gemm(width, threads);
    for (const model of models) workloads[model.name] = await trainingStep(model, threads);
    const times = await measureInterleaved(workloads, rounds);
    for (const width of widths) {
      results.gemm.push({ width, threads, ...speeds(gemmFlop(width), times[`gemm ${width}`]) });
    }
    for (const { name, config } of models) {
      const speed = speeds(stepFlop(config, stepShape), times[name]);
      const peer = results.gemm.find((entry) => entry.width === config.hiddenSize && entry.threads === threads);
      results.steps.push({
        model: name,
        width: config.hiddenSize,
        threads,
        tokensPerSecond: (batchSize * sequenceTokens) / times[name].wall,
        gigaflopPerStep: stepFlop(config, stepShape) / 1e9,
        ...speed,
        shareOfGemm: speed.gigaflops / peer.gigaflops,
        shareOfGemmByCpuTime: speed.gigaflopPerCpuSecond / peer.gigaflopPerCpuSecond,
      });
    }
  }
  print(results);
  writeResults('train', results);
}

function speeds(flop, { wall, cpu }) {
  return { gigaflops: flop / wall / 1e9, gigaflopPerCpuSecond: flop / cpu / 1e9 };
}

async function trainingStep({ config, weights, name }, threads) {
  const kept = { format: 'f32', feeds: weightFeeds(config, weights), release: () => undefined };
  const options = { parent: null, rank: loraRank, alpha: 2 * loraRank, seed: 1, clipNorm: 1 };
  const session = await openTrainingSession({ config, weights: kept, name, threads }, options);
  const random = createRandom(1);
  const batch = Array.from({ length: batchSize }, () => {
    const tokens = Array.from({ length: sequenceTokens }, () => Math.floor(random.next() * config.vocabularySize));
    return { sequence: { tokens, targetStart: 1 }, weight: 1 };
  });
  return () => session.step(batch, 1e-4);
}

async function baseModel() {
  const folder = join(root, 'models/base');
  if (!existsSync(join(folder, 'model.safetensors'))) {
    return { name: 'random, width 384, 12 layers', config: small, weights: randomWeights(small) };
  }
  const { decoder } = await readModelConfig(folder);
  return { name: 'models/base', config: decoder, weights: await loadWeights(folder, decoder) };
}

function randomWeights(config) {
  const random = createRandom(2);
  const weights = new Map();
  for (const [name, shape] of decoderWeightShapes(config)) {
    const data = new Float32Array(shape.reduce((a, b) => a * b));
    for (let index = 0; index < data.length; index += 1) {
      data[index] = name.includes('norm') ? 1 : (random.next() - 0.5) * 0.1;
    }
    weights.set(name, { shape, data });
  }
  return weights;
}

function print({ machine: { cpu, cores, loadAverage }, gemm: products, steps }) {
  console.log(`${cpu}, ${cores} cores, load average ${loadAverage.toFixed(1)}`);
  console.log(`\nONNX Runtime's matrix product, [${gemmRows}, width] x [width, width]`);
  console.table(
    products.map((entry) => ({
      width: entry.width,
      threads: entry.threads,
      'GFLOP/s': entry.gigaflops.toFixed(1),
      'GFLOP/CPU s': entry.gigaflopPerCpuSecond.toFixed(1),
    })),
  );
  console.log(`LoRA step, rank ${loraRank}, ${batchSize} sequences of ${sequenceTokens} tokens, every token a target`);
  console.table(
    steps.map((entry) => ({
      model: entry.model,
      threads: entry.threads,
      'tokens/s': entry.tokensPerSecond.toFixed(0),
      'GFLOP/step': entry.gigaflopPerStep.toFixed(1),
      'GFLOP/s': entry.gigaflops.toFixed(1),
      'GFLOP/CPU s': entry.gigaflopPerCpuSecond.toFixed(1),
      'of GEMM': `${(100 * entry.shareOfGemm).toFixed(0)} %`,
      'of GEMM, CPU time': `${(100 * entry.shareOfGemmByCpuTime).toFixed(0)} %`,
    })),
  );
}
