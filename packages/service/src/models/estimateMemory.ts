import { outlineCheckpoint, trainingStepBytes, type WeightFormat } from '@engraft/engine';
import type { Recipe } from '@engraft/learning';
import type { ModelMemory } from './fitSentences.js';

/** Node.js and ONNX Runtime themselves, with a tokenizer. */
const processBytes = 130e6;
/** The length of a trained question with its answer. */
const rowTokens = 40;
const answerTokens = 12;
/**
 * A process's memory as a multiple of what it computes with: ONNX Runtime rearranges matrices, and keeps memory for the
 * next run. Measured with the shipped model and SmolLM2-135M, see `docs/models.md`.
 */
const servingShare = 1.5;
const stepShare = 1.35;

/**
 * Roughly the memory that a model needs, from its shape. Learning has the weights twice more: in the serving process,
 * which scores, and in the training one, with what a step keeps.
 */
export async function estimateMemory(
  modelFolder: string,
  format: WeightFormat,
  { training, replay }: Recipe,
): Promise<ModelMemory> {
  const { servingBytes, trainingBytes } = await outlineCheckpoint(modelFolder, format, Infinity);
  const rows = training.pairsPerBatch + replay.rowsPerBatch;
  const step = { rows, length: rowTokens, targets: rows * answerTokens };
  const stepBytes = await trainingStepBytes(modelFolder, format, step);
  return {
    servingBytes: Math.round(processBytes + servingShare * servingBytes),
    learningBytes: Math.round(processBytes + 2 * trainingBytes + stepShare * stepBytes),
    isMeasured: false,
  };
}
