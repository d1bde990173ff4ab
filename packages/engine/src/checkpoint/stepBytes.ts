import { activationBytes, defaultActivationBytes } from '../lora/activations.js';
import type { TrainingRun } from '../lora/runLayout.js';
import type { WeightFormat } from '../model/quantization.js';
import { readModelConfig } from './modelConfig.js';

/**
 * Bytes that a training step over so many rows keeps between its two passes. Reads only `config.json`. A step that
 * would take more than the bound of a training is computed in parts.
 */
export async function trainingStepBytes(
  modelDir: string,
  format: WeightFormat,
  run: Pick<TrainingRun, 'rows' | 'length' | 'targets'>,
): Promise<number> {
  const { decoder } = await readModelConfig(modelDir);
  return Math.min(activationBytes(decoder, run), defaultActivationBytes(format));
}
