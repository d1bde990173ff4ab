import { machineMemory } from '../support/machineMemory.js';
import { EngineError } from '../engine.js';
import { residentBytes } from '../model/residentBytes.js';
import type { WeightFormat } from '../model/quantization.js';
import { weightCount } from '../model/weights.js';
import { ChatTokenizer } from '../tokenizer/chatTokenizer.js';
import { defaultMaxContextLength } from './contextLength.js';
import { readModelConfig } from './modelConfig.js';
import { requireVocabulary } from './vocabularySize.js';

/** A model as its `config.json` describes it. */
export interface CheckpointOutline {
  /** The class name in `config.json`, for instance `Qwen3ForCausalLM`. */
  readonly architecture: string;
  readonly parameters: number;
  /** The context length in tokens that an engine offers. The model itself may allow more. */
  readonly contextLength: number;
  /** The least memory that the weights take while serving, and while learning in a process of its own. */
  readonly servingBytes: number;
  readonly trainingBytes: number;
}

/**
 * Checks that an engine could run the model that a `config.json` describes. Needs no weights.
 * @param memoryBytes the memory available.
 * @throws EngineError `checkpoint_invalid` naming the unsupported field, or the memory available.
 */
export async function outlineCheckpoint(
  modelDir: string,
  format: WeightFormat = 'f32',
  memoryBytes = machineMemory(),
): Promise<CheckpointOutline> {
  const { architectureName, decoder } = await readModelConfig(modelDir);
  const servingBytes = residentBytes(decoder, format, true);
  if (servingBytes > memoryBytes) {
    throw new EngineError(
      'checkpoint_invalid',
      `config.json: the weights of ${weightCount(decoder)} parameters take ${servingBytes} bytes of memory, ` +
        `and there are ${memoryBytes}`,
    );
  }
  return {
    architecture: architectureName,
    parameters: weightCount(decoder),
    contextLength: Math.min(decoder.contextLength, defaultMaxContextLength),
    servingBytes,
    trainingBytes: residentBytes(decoder, format, true),
  };
}

/**
 * Loads the tokenizer with its template and checks that it fits the model of `config.json`. Needs no weights.
 * @throws EngineError `checkpoint_invalid` naming the file and the field.
 */
export async function loadFittingTokenizer(modelDir: string): Promise<ChatTokenizer> {
  const { decoder } = await readModelConfig(modelDir);
  const tokenizer = await ChatTokenizer.load(modelDir);
  requireVocabulary(tokenizer, decoder);
  return tokenizer;
}
