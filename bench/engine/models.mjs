// The checkpoints that the parts of the bench share: the shipped one and two wider ones with random weights.
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { readModelConfig } from '../../packages/engine/dist/checkpoint/modelConfig.js';
import { serializeSafetensors } from '../../packages/engine/dist/checkpoint/safetensors.js';
import { loadWeights } from '../../packages/engine/dist/checkpoint/weightFiles.js';
import { decoderWeightShapes } from '../../packages/engine/dist/model/weights.js';
import { createRandom } from '../../packages/engine/dist/support/random.js';
import { root } from '../lib/measure.mjs';

export const shippedModel = join(root, 'models/base');

/**
 * A token that no prompt has and that the models here never write: with it as the end of a turn, outputs have full
 * length.
 */
const unusedToken = { text: '</think>', id: 8 };
const textsBesideWeights = ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'chat_template.jinja'];

const shapes = {
  512: {
    hidden_size: 512,
    num_hidden_layers: 4,
    num_attention_heads: 8,
    num_key_value_heads: 2,
    intermediate_size: 1536,
  },
  // Two layers of a 0.5-billion-parameter shape.
  896: {
    hidden_size: 896,
    num_hidden_layers: 2,
    num_attention_heads: 14,
    num_key_value_heads: 2,
    intermediate_size: 4864,
  },
};

/**
 * The models by name, as folders below `folder`; outputs of each go on to the length that was asked for.
 * @returns {Promise<{ name: string, width: number, folder: string }[]>}
 */
export async function makeModels(folder, widths) {
  const models = [{ name: 'shipped, width 256', width: 256, folder: join(folder, 'shipped') }];
  await cp(shippedModel, models[0].folder, { recursive: true });
  for (const width of widths.filter((each) => each in shapes)) {
    const model = { name: `random, width ${width}, ${shapes[width].num_hidden_layers} layers`, width };
    models.push({ ...model, folder: join(folder, `random-${width}`) });
    await writeRandomModel(models.at(-1).folder, shapes[width]);
  }
  for (const model of models) await neverEnd(model.folder);
  return models.filter(({ width }) => widths.includes(width));
}

/** A checkpoint of the user's. */
export async function givenModel(folder) {
  const { decoder } = await readModelConfig(folder);
  return { name: basename(resolve(folder)), width: decoder.hiddenSize, folder };
}

/**
 * A checkpoint of the user's, with a special token that no template writes as the end of a turn, so that outputs go on
 * to the length that was asked for. Its weights are a link.
 */
export async function givenModelThatNeverEnds(source, folder) {
  await mkdir(folder);
  for (const file of textsBesideWeights) await cp(join(source, file), join(folder, file));
  await symlink(join(resolve(source), 'model.safetensors'), join(folder, 'model.safetensors'));
  const { added_tokens: added } = JSON.parse(await readFile(join(folder, 'tokenizer.json'), 'utf8'));
  const template = await readFile(join(folder, 'chat_template.jinja'), 'utf8');
  const unused = added.findLast(({ special, content }) => special && !template.includes(content));
  if (unused === undefined) throw new Error(`${source} has no special token beside those of its template`);
  await neverEnd(folder, { text: unused.content, id: unused.id });
  return { name: basename(resolve(source)), folder };
}

/** The shape and the weights of a checkpoint folder. */
export async function readModel(folder) {
  const { decoder: config } = await readModelConfig(folder);
  return { config, weights: await loadWeights(folder, config) };
}

async function writeRandomModel(folder, shape) {
  await mkdir(folder);
  for (const file of ['tokenizer.json', 'tokenizer_config.json', 'chat_template.jinja', 'generation_config.json']) {
    await cp(join(shippedModel, file), join(folder, file));
  }
  const shipped = JSON.parse(await readFile(join(shippedModel, 'config.json'), 'utf8'));
  await writeFile(join(folder, 'config.json'), JSON.stringify({ ...shipped, ...shape, max_window_layers: undefined }));
  const { decoder } = await readModelConfig(folder);
  const random = createRandom(decoder.hiddenSize);
  const tensors = [...decoderWeightShapes(decoder)].map(([name, dimensions]) => {
    const data = new Float32Array(dimensions.reduce((a, b) => a * b));
    const bound = Math.sqrt(3 / dimensions.at(-1));
    for (let index = 0; index < data.length; index += 1) {
      data[index] = name.includes('norm') ? 1 : (2 * random.next() - 1) * bound;
    }
    // Its logit is 0 with a row of zeros, and the greatest of 4,096 random ones is above that.
    if (name.includes('embed_tokens'))
      data.fill(0, unusedToken.id * dimensions[1], (unusedToken.id + 1) * dimensions[1]);
    return [name, { shape: dimensions, data }];
  });
  await writeFile(join(folder, 'model.safetensors'), serializeSafetensors(tensors, { format: 'pt' }));
}

async function neverEnd(folder, { text, id } = unusedToken) {
  const change = async (name, changes) => {
    const file = join(folder, name);
    const before = existsSync(file) ? JSON.parse(await readFile(file, 'utf8')) : {};
    await writeFile(file, JSON.stringify({ ...before, ...changes }));
  };
  await change('tokenizer_config.json', { eos_token: text });
  await change('generation_config.json', { eos_token_id: [id] });
}
