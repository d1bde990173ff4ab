import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { defaultRecipe } from '@engraft/learning';
import { outlineCheckpoint } from '@engraft/engine';
import { formatBytes } from '../formatBytes.js';
import { estimateMemory } from './estimateMemory.js';

const page = new URL('../../../../docs/models.md', import.meta.url);

/** As in the `config.json` of each, but for what changes no size. */
const shapes = {
  'SmolLM2-360M-Instruct': shape('Llama', [49_152, 960, 2560, 32], [15, 5, 64], 8192),
  'Qwen3-0.6B': shape('Qwen3', [151_936, 1024, 3072, 28], [16, 8, 128], 40_960),
  'Llama-3.2-1B-Instruct': shape('Llama', [128_256, 2048, 8192, 16], [32, 8, 64], 131_072),
  'Qwen2.5-1.5B-Instruct': shape('Qwen2', [151_936, 1536, 8960, 28], [12, 2, 128], 32_768),
};

function shape(
  family: string,
  [vocabSize, hiddenSize, intermediateSize, numHiddenLayers]: readonly [number, number, number, number],
  [numAttentionHeads, numKeyValueHeads, headDim]: readonly [number, number, number],
  maxPositionEmbeddings: number,
): object {
  return {
    architectures: [`${family}ForCausalLM`],
    vocab_size: vocabSize,
    hidden_size: hiddenSize,
    intermediate_size: intermediateSize,
    num_hidden_layers: numHiddenLayers,
    num_attention_heads: numAttentionHeads,
    num_key_value_heads: numKeyValueHeads,
    head_dim: headDim,
    max_position_embeddings: maxPositionEmbeddings,
    tie_word_embeddings: true,
  };
}

let folder: string;
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'engraft-shapes-'));
});
after(() => rm(folder, { recursive: true }));

for (const [name, config] of Object.entries(shapes)) {
  test(`docs/models.md has the computed memory of ${name}`, async () => {
    const modelFolder = path.join(folder, name);
    await mkdir(modelFolder);
    await writeFile(path.join(modelFolder, 'config.json'), JSON.stringify(config));
    const { parameters } = await outlineCheckpoint(modelFolder, 'f32', Infinity);
    const { servingBytes, learningBytes } = await estimateMemory(modelFolder, 'f32', defaultRecipe(parameters));
    const row = `| ${name} | ${Math.round(parameters / 1e6)} million | ${formatBytes(servingBytes)} | ${formatBytes(learningBytes)} |`;
    const text = (await readFile(page, 'utf8')).replaceAll(/ +/g, ' ');
    assert.ok(text.includes(row), row);
  });
}
