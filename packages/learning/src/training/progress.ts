/** How far a training has come, as it is stored. The training resumes from it exactly, to the last bit. */
import { createHash } from 'node:crypto';
import type { AdapterReference, TrainingExample } from '@engraft/engine';
import { z } from 'zod';
import { noUsage } from '../budget/meter.js';
import { emptyCurve, lossCurveSchema, lossPoints, type LossPoint } from '../lossCurve.js';
import { trainingSchema, usageSchema } from '../outcomes.js';
import type { Recipe } from '../recipe/recipe.js';
import type { LearningUsage } from '../types.js';
import { batches } from './batches.js';
import type { Material } from './material.js';

const count = z.number().int().nonnegative();

const stateSchema = z.strictObject({
  report: trainingSchema.shape.report,
  curve: lossCurveSchema,
  /**
   * The steps since the last dev evaluation. There are as many as an interval has if that evaluation is still to come.
   */
  interval: z.strictObject({ steps: count, lossSum: z.number() }),
  /** The adapter with the lowest dev loss. */
  best: z.strictObject({ devLoss: z.number(), adapter: trainingSchema.shape.adapter }).nullable(),
  /** Dev evaluations since then. */
  stale: count,
});
/** The state that the steps so far left beside the session's own. The batches to come follow from the seed. */
export type TrainingState = z.infer<typeof stateSchema>;

export const notBegun: TrainingState = {
  report: { steps: 0, tokens: 0, final_loss: 0 },
  curve: emptyCurve,
  interval: { steps: 0, lossSum: 0 },
  best: null,
  stale: 0,
};

/** Strict, so that progress of another version is not half understood. Folders are as in `trainingSchema`. */
export const progressSchema = z.strictObject({
  /** See `planIdentity`. */
  plan: z.string(),
  /** The folder of the session's own state. */
  snapshot: z.string(),
  /** Usage of the phase so far. */
  usage: usageSchema,
  state: stateSchema,
});
export type TrainingProgress = z.infer<typeof progressSchema>;

/** The phase's usage at its stored progress, or none if the progress cannot be read. */
export function usageOfProgress(stored: unknown): LearningUsage {
  const parsed = progressSchema.safeParse(stored);
  return parsed.success ? parsed.data.usage : noUsage;
}

/** The training loss so far at its stored progress. Empty if the progress cannot be read. */
export function lossOfProgress(stored: unknown): LossPoint[] {
  const parsed = progressSchema.safeParse(stored);
  return parsed.success ? lossPoints(parsed.data.state.curve) : [];
}

/** The same progress with its folders where they lie now, or as they are stored. See `folderIn` and `folderFrom`. */
export function withFolders(progress: TrainingProgress, moved: (folder: string) => string): TrainingProgress {
  const { best } = progress.state;
  const adapter = best === null ? null : { ...best.adapter, folder: moved(best.adapter.folder) };
  return {
    ...progress,
    snapshot: moved(progress.snapshot),
    state: { ...progress.state, best: best === null || adapter === null ? null : { ...best, adapter } },
  };
}

/** The folders that are read when training goes on from this progress. */
export function foldersOf({ snapshot, state }: TrainingProgress): readonly string[] {
  return state.best === null ? [snapshot] : [snapshot, state.best.adapter.folder];
}

/**
 * A hash over every batch of a training, its parent and the whole recipe. A training goes on only under the plan it
 * began with, not with the recipe of a later release, nor from base if the parent has been damaged since.
 */
export function planIdentity(
  { material, steps }: { readonly material: Material; readonly steps: number },
  seed: number,
  parent: AdapterReference | null,
  recipe: Recipe,
): string {
  // The recipe gives only the name of its prompts. The batches contain their words.
  const start = { recipe, seed, steps, parent: parent?.contentHash ?? null };
  const hash = createHash('sha256').update(JSON.stringify(start));
  const stream = batches(material, seed, recipe);
  const rows = new Map<TrainingExample, number>();
  for (let step = 0; step < steps; step++) {
    for (const row of stream.next().value) {
      const seen = rows.get(row);
      if (seen === undefined) rows.set(row, rows.size);
      hash.update(seen === undefined ? JSON.stringify([row.sequence, row.weight]) : `${seen},`);
    }
  }
  return hash.digest('hex');
}
