import { readModelConfig } from './modelConfig.js';

/** The longest context that is offered however long the model's own is: a key-value cache of it must fit in memory. */
export const defaultMaxContextLength = 16_384;

/**
 * The context in tokens that an engine on this folder offers, read from its configuration alone: for a process that
 * decides what fits before the engine sees it.
 *
 * @throws EngineError `checkpoint_invalid` naming the file and the field.
 */
export async function readContextLength(modelDir: string): Promise<number> {
  const { decoder } = await readModelConfig(modelDir);
  return Math.min(decoder.contextLength, defaultMaxContextLength);
}
