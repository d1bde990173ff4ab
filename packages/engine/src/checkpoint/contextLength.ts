import { readModelConfig } from './modelConfig.js';

/** The longest context on offer, even if the model allows more: a key-value cache of this length must fit in memory. */
export const defaultMaxContextLength = 16_384;

/**
 * The context length in tokens that an engine offers for this folder. Reads only the configuration, for a process that
 * decides what fits before the engine sees it.
 *
 * @throws EngineError `checkpoint_invalid` naming the file and the field.
 */
export async function readContextLength(modelDir: string): Promise<number> {
  const { decoder } = await readModelConfig(modelDir);
  return Math.min(decoder.contextLength, defaultMaxContextLength);
}
