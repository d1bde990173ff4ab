import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { EngineError } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import { weightBytes, weightCount, type WeightReader } from '../model/weights.js';
import { openRegularFile } from '../support/boundedFile.js';
import { ChatTokenizer } from '../tokenizer/chatTokenizer.js';
import type { ModelDescription } from '../types.js';
import { optionalFiles, requiredFiles } from './checkpointFiles.js';
import { readModelConfig } from './modelConfig.js';
import { requireVocabulary } from './vocabularySize.js';
import { findWeightFiles, openWeights } from './weightFiles.js';

/** A verified Hugging Face checkpoint folder. Its weights are read when they are needed. */
export interface Checkpoint {
  readonly config: DecoderConfig;
  readonly weights: WeightReader;
  readonly tokenizer: ChatTokenizer;
  readonly description: ModelDescription;
}

/**
 * @param residentBytes the memory that the caller keeps the weights in. By default all weights as float32.
 * @throws EngineError `checkpoint_invalid` naming the file and the field or tensor, or the memory available.
 */
export async function openCheckpoint(
  modelDir: string,
  residentBytes: (config: DecoderConfig) => number = weightBytes,
): Promise<Checkpoint> {
  const { architectureName, decoder: config } = await readModelConfig(modelDir);
  const tokenizer = await ChatTokenizer.load(modelDir);
  requireVocabulary(tokenizer, config);
  const weights = await openWeights(modelDir, config, residentBytes(config));
  const description: ModelDescription = {
    architecture: architectureName,
    contextLength: config.contextLength,
    vocabularySize: config.vocabularySize,
    parameters: weightCount(config),
    contentHash: await hashCheckpoint(modelDir),
  };
  return { config, weights, tokenizer, description };
}

/**
 * `sha256:<hex>` over a line `<sha256 of the file>  <name>` for each file that determines the model's output, in the
 * format of `sha256sum`. Optional files that are absent have no line.
 */
async function hashCheckpoint(modelDir: string): Promise<string> {
  const optional: readonly string[] = optionalFiles;
  const names = [...requiredFiles, ...optional, ...(await findWeightFiles(modelDir))];
  const total = createHash('sha256');
  for (const name of names) {
    const hash = await hashFile(modelDir, name);
    if (hash !== undefined) total.update(`${hash}  ${name}\n`);
    else if (!optional.includes(name)) throw new EngineError('checkpoint_invalid', `${name} is missing`);
  }
  return `sha256:${total.digest('hex')}`;
}

/** `undefined` if there is no such file. */
async function hashFile(modelDir: string, file: string): Promise<string | undefined> {
  const opened = await openRegularFile(join(modelDir, file), { code: 'checkpoint_invalid', file });
  if (opened === undefined) return undefined;
  const hash = createHash('sha256');
  await pipeline(opened.handle.createReadStream({ highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}
