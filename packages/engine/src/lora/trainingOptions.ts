/** The options of a training, wherever it computes. */
import { createHash } from 'node:crypto';
import type { LoraHyperparameters } from '../adapters/loraModules.js';
import { maxRank } from '../adapters/peftConfig.js';
import { EngineError } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import type { ResumeOptions, TokenSequence, TrainingOptions } from '../types.js';
import type { AdamWOptions } from './adamW.js';
import { checkTokens } from './batch.js';

const defaultBetas = [0.9, 0.999] as const;

export function optimizerOptions({ betas, weightDecay, clipNorm }: TrainingOptions): AdamWOptions {
  return { betas: betas ?? defaultBetas, weightDecay: weightDecay ?? 0, clipNorm: clipNorm ?? Infinity };
}

/** All layers need not be named. */
export function layersFrom(firstLayer: number, { layers }: DecoderConfig): Pick<LoraHyperparameters, 'layers'> {
  if (firstLayer === 0) return {};
  return { layers: Array.from({ length: layers - firstLayer }, (_, index) => firstLayer + index) };
}

/** @throws EngineError `invalid_request`, naming the field. */
export function checkOptions(options: TrainingOptions, { layers }: DecoderConfig): void {
  const { firstLayer = 0 } = options;
  const requirements: readonly (readonly [string, boolean, string])[] = [
    [
      'rank',
      Number.isInteger(options.rank) && options.rank >= 1 && options.rank <= maxRank,
      `a whole number from 1 to ${maxRank}`,
    ],
    ['alpha', Number.isFinite(options.alpha) && options.alpha > 0, 'a positive number'],
    ['seed', Number.isSafeInteger(options.seed), 'a whole number'],
    [
      'firstLayer',
      Number.isInteger(firstLayer) && firstLayer >= 0 && firstLayer < layers,
      `a whole number from 0 to ${layers - 1}`,
    ],
    ['weightDecay', inRange(options.weightDecay ?? 0, Number.MAX_VALUE), 'a number of at least 0'],
    [
      'betas',
      (options.betas ?? defaultBetas).every((beta) => inRange(beta, 1) && beta < 1),
      'two numbers of at least 0 and below 1',
    ],
    ['clipNorm', (options.clipNorm ?? 1) > 0, 'a positive number'],
  ];
  for (const [field, holds, wish] of requirements) {
    if (!holds) throw new EngineError('invalid_request', `${field} must be ${wish}`);
  }
}

/** @throws EngineError `invalid_request` or `context_length_exceeded`, naming the sequence. */
export function checkProtected(sequences: readonly TokenSequence[], config: DecoderConfig): void {
  for (const [index, { tokens }] of sequences.entries()) {
    const name = `protectedDirections[${index}]`;
    checkTokens(tokens, `${name}.tokens`, config);
    if (tokens.length <= config.contextLength) continue;
    const message = `${name} has ${tokens.length} tokens, but the context length is ${config.contextLength}`;
    throw new EngineError('context_length_exceeded', message);
  }
}

/** Identity of the protected sequences; `null` if there are none. */
export function hashProtected({ protectedDirections: sequences = [] }: TrainingOptions | ResumeOptions): string | null {
  if (sequences.length === 0) return null;
  return createHash('sha256')
    .update(JSON.stringify(sequences.map(({ tokens }) => tokens)))
    .digest('hex');
}

/** @throws EngineError `invalid_request` if the training began with other sequences. */
export function requireSameProtected(began: string | null, options: ResumeOptions): void {
  if (began === hashProtected(options)) return;
  throw new EngineError('invalid_request', 'protectedDirections must be the sequences that the training began with');
}

function inRange(value: number, greatest: number): boolean {
  return value >= 0 && value <= greatest;
}
