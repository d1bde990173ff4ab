/** Small checkpoints and adapters with random weights, for tests. */
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeAdapter } from '../adapters/adapterFolder.js';
import { loraModules, type LoraHyperparameters } from '../adapters/loraModules.js';
import type { DecoderConfig } from '../model/config.js';
import { decoderWeightShapes, moduleTensorSpecs } from '../model/weights.js';
import { createRandom, type Random } from '../support/random.js';
import type { AdapterReference } from '../types.js';
import type { JsonObject } from '../checkpoint/jsonFields.js';
import { readModelConfig } from '../checkpoint/modelConfig.js';
import { serializeSafetensors, type FloatTensor } from '../checkpoint/safetensors.js';
import { elementCount } from '../support/numbers.js';

/** A byte-level tokenizer of 384 tokens with a chat template, from `fixtures/make_tokenizer_fixtures.py`. */
export const tinyTokenizer = fileURLToPath(new URL('../../fixtures/tokenizer/tiny/', import.meta.url));

/** A Qwen3 of two narrow layers, as `config.json` describes it. */
export const tinyConfig: JsonObject = {
  architectures: ['Qwen3ForCausalLM'],
  hidden_act: 'silu',
  hidden_size: 32,
  intermediate_size: 48,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 16,
  max_position_embeddings: 512,
  rms_norm_eps: 1e-6,
  rope_parameters: { rope_type: 'default', rope_theta: 10_000 },
  tie_word_embeddings: true,
  vocab_size: 384,
};

/** Writes a checkpoint with random weights and the tiny tokenizer into `folder`. `changes` apply to `tinyConfig`. */
export async function writeRandomCheckpoint(
  folder: string,
  seed = 1,
  changes: JsonObject = {},
): Promise<DecoderConfig> {
  await cp(tinyTokenizer, folder, { recursive: true });
  await writeFile(join(folder, 'config.json'), JSON.stringify({ ...tinyConfig, ...changes }));
  const { decoder } = await readModelConfig(folder);
  const random = createRandom(seed);
  const tensors = [...decoderWeightShapes(decoder)].map(
    ([name, shape]) => [name, randomTensor(shape, name.includes('norm') ? 1 : 0, 0.5, random)] as const,
  );
  await writeFile(join(folder, 'model.safetensors'), serializeSafetensors(tensors, { format: 'pt' }));
  return decoder;
}

/** Writes an adapter with an obvious effect. */
export async function writeRandomAdapter(
  folder: string,
  config: DecoderConfig,
  seed: number,
  rank = 4,
  changes: Partial<LoraHyperparameters> = {},
): Promise<AdapterReference> {
  const random = createRandom(seed);
  const lora = { rank, alpha: rank, ...changes };
  const specs = moduleTensorSpecs(config, loraModules(config, lora));
  const matrices = new Map(specs.map(({ name, shape }) => [name, randomTensor(shape, 0, 0.5, random)]));
  const { contentHash } = await writeAdapter(folder, { ...lora, matrices }, null);
  return { folder, contentHash };
}

/** Runs `use` with a temporary folder whose `model` is a random checkpoint, and removes the folder. */
export async function withRandomCheckpoint<T>(
  use: (folder: string, config: DecoderConfig) => Promise<T>,
  changes: JsonObject = {},
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'engraft-engine-'));
  try {
    await mkdir(join(folder, 'model'));
    return await use(folder, await writeRandomCheckpoint(join(folder, 'model'), 1, changes));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Uniform numbers around `centre`, at most `spread` away. */
function randomTensor(shape: readonly number[], centre: number, spread: number, random: Random): FloatTensor {
  return {
    shape,
    data: Float32Array.from({ length: elementCount(shape) }, () => centre + (2 * random.next() - 1) * spread),
  };
}
