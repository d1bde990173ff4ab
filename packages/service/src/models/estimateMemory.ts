import { outlineCheckpoint, trainingStepBytes, type WeightFormat } from '@engraft/engine';
import type { Recipe } from '@engraft/learning';
import type { ModelMemory } from './fitSentences.js';

/** Node.js and ONNX Runtime themselves, with a tokenizer. */
const process_bytes = 130e6;
/** The length of a trained question with its answer. */
const row_tokens = 40;
const answer_tokens = 12;
/**
 * A process's memory as a multiple of what it computes with: ONNX Runtime rearranges matrices, and keeps memory for the
 * next run. Measured with the shipped model and SmolLM2-135M, see `docs/models.md`.
 */
const serving_share = 1.5;
const step_share = 1.35;

/**
 * Roughly the memory that a model needs, from its shape. Learning has the weights twice more: in the serving process,
 * which scores, and in the training one, with what a step keeps.
 */
export async function estimateMemory(
  model_folder: string,
  format: WeightFormat,
  { training, replay }: Recipe,
): Promise<ModelMemory> {
  const { servingBytes, trainingBytes } = await outlineCheckpoint(model_folder, format, Infinity);
  const rows = training.pairsPerBatch + replay.rowsPerBatch;
  const step = { rows, length: row_tokens, targets: rows * answer_tokens };
  const stepBytes = await trainingStepBytes(model_folder, format, step);
  return {
    servingBytes: Math.round(process_bytes + serving_share * servingBytes),
    learningBytes: Math.round(process_bytes + 2 * trainingBytes + step_share * stepBytes),
    isMeasured: false,
  };
}
