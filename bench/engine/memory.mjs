// The peak of memory against the sum of what has to be there: weights, keys and values or optimizer state, activations.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { loraTensorSpecs, decoderWeightShapes } from '../../packages/engine/dist/model/weights.js';
import { allocatorVariables, nodeArguments } from '../../packages/engine/dist/process/processSettings.js';
import { packedSizes } from '../../packages/engine/dist/model/quantization.js';
import { readModel } from './models.mjs';

const allWork = {
  generation: { kind: 'generation', weightFormat: 'f32', batch: 8, outputTokens: 240 },
  'generation with 8 bits': { kind: 'generation', weightFormat: 'q8', batch: 8, outputTokens: 240 },
  training: { kind: 'training', weightFormat: 'f32', batch: 8, length: 128, rank: 8 },
};
/**
 * Prompt and output of a sequence, rounded up to the step in which the cache grows; and the most that a prompt has
 * here.
 */
const capacity = 256;
const promptTokens = 16;

/** @param {{ models: { name: string, folder: string }[], threads: number }} plan */
export async function measureMemory({ models, threads }) {
  const rows = [];
  for (const model of models) {
    const { config } = await readModel(model.folder);
    for (const [name, work] of Object.entries(allWork)) {
      const cacheFolder = join(model.folder, 'cache');
      const plan = { work, modelDir: model.folder, threads, cacheFolder };
      // Quantised weights are made at a first start.
      if (work.weightFormat !== 'f32') await runAlone(plan);
      const { peakBytes, baselineBytes } = await runAlone(plan);
      const parts = {
        weights: weightBytes(config, work.weightFormat),
        ...(work.kind === 'generation' ? cacheParts : trainingParts)(config, work),
      };
      const predicted = Object.values(parts).reduce((sum, bytes) => sum + bytes, 0);
      rows.push({
        figure: `Peak memory of ${name}, without Node and ONNX Runtime themselves`,
        model: model.name,
        threads,
        unit: 'MB',
        value: (peakBytes - baselineBytes) / 1e6,
        baseline: baselineBytes / 1e6,
        peer: `predicted: ${Object.entries(parts)
          .map(([part, bytes]) => `${part} ${(bytes / 1e6).toFixed(1)}`)
          .join(' + ')}`,
        peerValue: predicted / 1e6,
        ratio: (peakBytes - baselineBytes) / predicted,
        target: { atMost: 1.3 },
      });
    }
  }
  return rows;
}

/**
 * Runs a plan in a process of its own, started as the engine's is: the greatest size of a process never falls again.
 */
async function runAlone(plan) {
  const script = fileURLToPath(new URL('./memoryRun.mjs', import.meta.url));
  const env = { ...process.env, ...allocatorVariables };
  const { stdout } = await promisify(execFile)(process.execPath, [...nodeArguments, script, JSON.stringify(plan)], {
    env,
  });
  return JSON.parse(stdout);
}

/** With 8 bits the matrices are in blocks, and the embedding in float32 besides, as it is looked up. */
function weightBytes(config, format) {
  const numbers = (shape) => shape.reduce((a, b) => a * b);
  const shapes = [...decoderWeightShapes(config).values()];
  if (format === 'f32') return 4 * shapes.reduce((sum, shape) => sum + numbers(shape), 0);
  return shapes.reduce(
    (sum, shape) => {
      const [out, width] = shape;
      if (width === undefined) return sum + 4 * out;
      const { blocks, blockBytes } = packedSizes(format, width);
      return sum + out * blocks * (blockBytes + 4);
    },
    4 * config.vocabularySize * config.hiddenSize,
  );
}

/** One slot for each sequence and one for reading prompts; the logits; the widest activations of a prompt. */
function cacheParts(config, { batch }) {
  const slot = 4 * 2 * config.layers * config.kvHeads * config.headDim * capacity;
  const row = 4 * (2 * config.hiddenSize + 3 * config.ffnSize);
  return {
    'keys and values': (batch + 1) * slot,
    activations: 4 * batch * config.vocabularySize + promptTokens * row,
  };
}

/**
 * Adapter, gradient, the copy in which it is handed back, two moments; what the backward pass needs of each layer:
 * per token four vectors of the residual width (into and out of both norms), queries, keys and values before and after
 * norm and rotation, attention's probabilities and its mix, four vectors of the feed-forward width, and LoRA's seven;
 * per target about three vectors of the vocabulary's size.
 */
function trainingParts(config, { batch, length, rank }) {
  const adapter = loraTensorSpecs(config, rank).reduce((sum, { shape: [height, width] }) => sum + height * width, 0);
  const queries = config.heads * config.headDim;
  const keys = config.kvHeads * config.headDim;
  const perToken =
    4 * config.hiddenSize + 4 * queries + 4 * keys + config.heads * length + 4 * config.ffnSize + 7 * rank;
  return {
    'adapter and optimizer': 4 * 5 * adapter,
    'kept for the backward pass': 4 * batch * length * config.layers * perToken,
    logits: 4 * 3 * batch * (length - 1) * config.vocabularySize,
  };
}
