import type { TrainingRecipe } from '../recipe/recipe.js';

/** Linear warm-up, then a cosine from `peakRate` to `finalRateShare` of it. `step` counts from 0. */
export function learningRateAt(
  step: number,
  totalSteps: number,
  { peakRate, warmupSteps, finalRateShare }: Pick<TrainingRecipe, 'peakRate' | 'warmupSteps' | 'finalRateShare'>,
): number {
  const warmup = Math.min(warmupSteps, Math.max(1, Math.floor(totalSteps / 4)));
  if (step < warmup) return (peakRate * (step + 1)) / warmup;
  const progress = (step - warmup) / Math.max(1, totalSteps - 1 - warmup);
  const cosine = (1 + Math.cos(Math.PI * Math.min(1, progress))) / 2;
  return peakRate * (finalRateShare + (1 - finalRateShare) * cosine);
}
