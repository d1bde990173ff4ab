import { outlineCheckpoint, trainingStepBytes, type WeightFormat } from '@engraft/engine';
import type { Recipe } from '@engraft/learning';
import type { ModelMemory } from './fitSentences.js';

/** Node.js and ONNX Runtime themselves, with a tokenizer. */
const process_bytes = 130e6;
/** A question and its answer, as trained. */
const row_tokens = 40;
const answer_tokens = 12;
/**
 * What a process comes to have, of what it computes with: ONNX Runtime arranges matrices anew, and keeps memory for the
 * next run. As measured with the shipped model and SmolLM2-135M; see `docs/models.md`.
 */
const serving_share = 1.5;
const step_share = 1.35;

/**
 * About what a model takes, by its shape. Learning has the weights twice more: in the process that serves, which
 * scores, and in the one that trains, with what a step keeps.
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
