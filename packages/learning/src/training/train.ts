import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { AdapterReference, Engine, ModelDescription, TokenSequence, TrainingSession } from '@engraft/engine';
import { withBaseTargets } from './baseTargets.js';
import { planSteps, wantedSteps } from '../metering/budget.js';
import { MeteredCalls, retryingLostWork, throwIfCancelled } from '../metering/calls.js';
import { batches, replayDrawn, tokensOf, type Material } from './material.js';
import { noUsage, type Meter } from '../metering/meter.js';
import { deriveSeed } from '../random.js';
import { learningRateAt, peakLearningRate, recipe } from '../recipe.js';
import type { TrainingOutcome } from '../outcomes.js';
import type { LearningUsage, TrainingReport } from '../types.js';

export interface TrainingJob {
  readonly engine: Engine;
  readonly model: ModelDescription;
  readonly meter: Meter;
  readonly material: Material;
  readonly parent: AdapterReference | null;
  readonly seed: number;
  readonly workFolder: string;
  readonly signal: AbortSignal | undefined;
  readonly onStep: (done: number, total: number) => void;
}

type Trained = Pick<TrainingOutcome, 'adapter' | 'report'>;

/**
 * Trains a LoRA adapter on all linear projections with AdamW, and keeps the snapshot with the lowest dev loss.
 * `null` when not even `recipe.minSteps` steps are affordable. When the engine's process dies the training starts
 * over, and what was lost is not counted.
 */
export async function train(job: TrainingJob): Promise<Trained | null> {
  const plan = planTraining(job);
  if (plan === null) return null;
  const calls = new MeteredCalls(job.engine, job.meter, job.signal);
  const material = await withBaseTargets(calls, plan.material, job.seed, plan.steps);
  const usageBefore = job.meter.usage;
  return retryingLostWork(async () => {
    // Whoever was cancelled may have a successor at work on this folder.
    throwIfCancelled(job.signal);
    job.meter.rewind(usageBefore);
    const folder = join(job.workFolder, 'training');
    await rm(folder, { recursive: true, force: true });
    const session = await job.engine.openTraining({
      parent: job.parent,
      spared: payForSpared(job.meter, material.spared),
      rank: recipe.rank,
      alpha: recipe.alpha,
      seed: deriveSeed(job.seed, 'adapter'),
      weightDecay: recipe.weightDecay,
      betas: recipe.betas,
      clipNorm: recipe.clipNorm,
    });
    try {
      return await runSteps({ ...job, material }, session, plan.steps, folder);
    } finally {
      await session.close();
    }
  });
}

/** They go through the model once; none where there is no money for them. */
function payForSpared(meter: Meter, spared: readonly TokenSequence[]): readonly TokenSequence[] {
  const usage: LearningUsage = { ...noUsage, input_tokens: lengthOf(spared) };
  if (!meter.tryHold(usage, recipe.trainingShare)) return [];
  meter.settle(usage, usage);
  return spared;
}

function lengthOf(sequences: readonly TokenSequence[]): number {
  return sequences.reduce((sum, { tokens }) => sum + tokens.length, 0);
}

/** What is trained, and for how long. */
export interface TrainingPlan {
  readonly material: Material;
  readonly steps: number;
}

/** With money for too few of the steps that the facts need, the long replay rows go first, and nothing is spared. */
export function planTraining(job: Pick<TrainingJob, 'material' | 'meter' | 'seed'>): TrainingPlan | null {
  const { material } = job;
  const steps = affordableSteps(job, material);
  const needed = recipe.neededStepsShare * wantedSteps(material.facts.length);
  if (steps !== null && steps >= needed) return { material, steps };
  const short = material.replay.filter(({ sequence }) => sequence.tokens.length <= recipe.shortReplayTokens);
  const economical = { ...material, replay: short.length > 0 ? short : material.replay, spared: [] };
  const moreSteps = affordableSteps(job, economical);
  return moreSteps === null ? null : { material: economical, steps: moreSteps };
}

/**
 * Beside dev evaluations, the texts that are spared and base's targets of every replay row that all wanted steps would show. The mean over as many batches as a
 * short run has stands for all of them; the meter holds each step's real cost.
 */
function affordableSteps({ meter, seed }: Pick<TrainingJob, 'meter' | 'seed'>, material: Material): number | null {
  const stream = batches(material, seed);
  const sample = Array.from({ length: recipe.minSteps }, () => tokensOf(stream.next().value));
  const stepTokens = sample.reduce((sum, tokens) => sum + tokens, 0) / sample.length;
  const scored = replayDrawn(material, seed, wantedSteps(material.facts.length));
  const inputTokens = recipe.devEvaluations * tokensOf(material.dev) + tokensOf(scored) + lengthOf(material.spared);
  const freeNanousd = meter.freeNanousd(recipe.trainingShare) - inputTokens * meter.budget.input_nanousd_per_token;
  return planSteps(freeNanousd, stepTokens * meter.budget.training_nanousd_per_token, material.facts.length);
}

/** The best snapshot so far. */
interface Best {
  readonly devLoss: number;
  readonly adapter: TrainingOutcome['adapter'];
}

async function runSteps(
  job: TrainingJob,
  session: TrainingSession,
  totalSteps: number,
  folder: string,
): Promise<Trained> {
  const { material, meter } = job;
  const peak = peakLearningRate(job.model.parameters);
  const options = job.signal === undefined ? {} : { signal: job.signal };
  const interval = Math.max(1, Math.ceil(totalSteps / recipe.devEvaluations));
  const stream = batches(material, job.seed);
  let best: Best | null = null;
  let stale = 0;
  let losses: number[] = [];
  let report: TrainingReport = { steps: 0, tokens: 0, final_loss: 0 };
  while (report.steps < totalSteps) {
    throwIfCancelled(job.signal);
    const batch = stream.next().value;
    const held: LearningUsage = { ...noUsage, training_tokens: tokensOf(batch) };
    if (!meter.tryHold(held, recipe.trainingShare)) break;
    const step = await session.step(batch, learningRateAt(report.steps, totalSteps, peak), options);
    meter.settle(held, { ...noUsage, training_tokens: step.tokens });
    losses.push(step.loss);
    report = { steps: report.steps + 1, tokens: report.tokens + step.tokens, final_loss: mean(losses) };
    job.onStep(report.steps, totalSteps);
    if (report.steps % interval !== 0) continue;
    const devLoss = await evaluateDev(job, session);
    if (devLoss !== null && (best === null || devLoss < best.devLoss)) {
      best = { devLoss, adapter: await replaceSnapshot(session, folder, report.steps, best) };
      stale = 0;
    } else {
      stale++;
    }
    if (best !== null && stale >= recipe.devPatience && 2 * report.steps >= totalSteps) break;
    if (best !== null && report.final_loss < recipe.enoughLoss) break;
    losses = [];
  }
  const adapter = best?.adapter ?? (await session.save(join(folder, `step-${report.steps}`)));
  return { adapter, report };
}

/** `null` when there is nothing to evaluate, or no money for it. */
async function evaluateDev({ material, meter, signal }: TrainingJob, session: TrainingSession): Promise<number | null> {
  const held: LearningUsage = { ...noUsage, input_tokens: tokensOf(material.dev) };
  if (material.dev.length === 0 || !meter.tryHold(held, recipe.trainingShare)) return null;
  const result = await session.evaluate(material.dev, signal === undefined ? {} : { signal });
  meter.settle(held, { ...noUsage, input_tokens: result.tokens });
  return result.loss;
}

async function replaceSnapshot(
  session: TrainingSession,
  folder: string,
  step: number,
  previous: Best | null,
): Promise<TrainingOutcome['adapter']> {
  const adapter = await session.save(join(folder, `step-${step}`));
  if (previous !== null) await rm(previous.adapter.folder, { recursive: true, force: true });
  return adapter;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
