import {
  EngineError,
  isAdapterIntact,
  type AdapterReference,
  type Engine,
  type TokenSequence,
  type TrainingSession,
} from '@engraft/engine';
import type { BaseMemory } from '../baseMemory.js';
import { withBaseTargets } from './baseTargets.js';
import { planSteps, wantedSteps } from '../budget/plan.js';
import { MeteredCalls, retryLostWork, throwIfCancelled } from '../budget/calls.js';
import { batches, replayDrawn, tokensOf } from './batches.js';
import type { Material } from './material.js';
import { addUsage, noUsage, type Meter } from '../budget/meter.js';
import { notBegun, planIdentity, type TrainingProgress, type TrainingState } from './progress.js';
import { deriveSeed } from '../random.js';
import type { Recipe } from '../recipe/recipe.js';
import { isAtFault, type Snapshots } from './snapshots.js';
import { TrainingRun, type Trained } from './trainingRun.js';
import type { LearningUsage } from '../types.js';

export interface TrainingJob {
  readonly engine: Engine;
  readonly recipe: Recipe;
  readonly meter: Meter;
  readonly baseMemory: BaseMemory;
  readonly material: Material;
  readonly parent: AdapterReference | null;
  readonly seed: number;
  readonly snapshots: Snapshots;
  readonly signal: AbortSignal | undefined;
  /** Whether a training that the signal aborts will go on later, in the run that takes over the job. */
  readonly isStopping: () => boolean;
  readonly onStep: (done: number, total: number) => void;
}

/**
 * Trains a LoRA adapter on all linear projections with AdamW, and keeps the snapshot with the lowest dev loss. Returns
 * `null` if not even `minSteps` steps are affordable.
 * An interrupted training goes on from its last snapshot, even when the engine's process dies. Lost work is not
 * counted: neither steps that are made again, nor base's targets, which each run of the job looks for again and which
 * count once at most.
 */
export async function train(job: TrainingJob): Promise<Trained | null> {
  const plan = planTraining(job);
  if (plan === null) return null;
  const identity = planIdentity(plan, job.seed, job.parent, job.recipe);
  const usageBefore = job.meter.usage;
  const calls = new MeteredCalls(job.engine, job.meter, job.signal);
  const material = await withBaseTargets(calls, job.baseMemory, plan.material, job.seed, plan.steps, job.recipe);
  const usageAtStart = job.meter.usage;
  return retryLostWork(async () => {
    // A cancelled run may have a successor at work on this folder.
    throwIfCancelled(job.signal);
    job.meter.rewind(usageAtStart);
    const protectedDirections = payForProtected(job, material.protectedDirections);
    const resumed = await resume(job, protectedDirections, await job.snapshots.load(identity));
    if (resumed !== null) job.meter.rewind(addUsage(usageBefore, resumed.usage));
    const session = resumed?.session ?? (await begin(job, protectedDirections));
    const state = resumed?.state ?? notBegun;
    const run = new TrainingRun({ ...job, usageBefore, material, steps: plan.steps, session, state });
    try {
      return await run.toEnd();
    } catch (error) {
      if (job.isStopping()) await run.keepLast();
      throw error;
    } finally {
      await session.close();
    }
  });
}

async function begin(job: TrainingJob, protectedDirections: readonly TokenSequence[]): Promise<TrainingSession> {
  const { rank, alpha, firstLayer, weightDecay, betas, clipNorm } = job.recipe.training;
  await job.snapshots.clear(null);
  return job.engine.openTraining({
    parent: job.parent,
    protectedDirections,
    rank,
    alpha,
    firstLayer,
    seed: deriveSeed(job.seed, 'adapter'),
    weightDecay,
    betas,
    clipNorm,
  });
}

interface Resumed {
  readonly session: TrainingSession;
  readonly state: TrainingState;
  /** Usage of the phase until then. */
  readonly usage: LearningUsage;
}

/** Returns `null` if there is nothing to go on from. Missing or damaged files are no reason for a job to fail. */
async function resume(
  job: TrainingJob,
  protectedDirections: readonly TokenSequence[],
  progress: TrainingProgress | null,
): Promise<Resumed | null> {
  if (progress === null) return null;
  const { snapshot, state, usage } = progress;
  await job.snapshots.clear(progress);
  try {
    // Checked now, since the adapter is read only in the next phase, when it would be too late.
    if (state.best !== null) await checkAdapter(state.best.adapter);
    const session = await job.engine.openTraining({ resume: snapshot, protectedDirections });
    job.snapshots.resumed(state.report.steps);
    return { session, state, usage };
  } catch (error) {
    // A full disk says nothing against the snapshot, which the next run of the job may use.
    const isFull = error instanceof EngineError && error.code === 'storage_full';
    if (isFull || !isAtFault(error)) throw error;
    return job.snapshots.refuse(error);
  }
}

/** Pays for the rows that go through the model once for this. None do if there is no money. */
function payForProtected(
  { meter, recipe }: Pick<TrainingJob, 'meter' | 'recipe'>,
  protectedDirections: readonly TokenSequence[],
): readonly TokenSequence[] {
  const usage: LearningUsage = { ...noUsage, input_tokens: lengthOf(protectedDirections) };
  if (!meter.tryHold(usage, recipe.shares.training)) return [];
  meter.settle(usage, usage);
  return protectedDirections;
}

function lengthOf(sequences: readonly TokenSequence[]): number {
  return sequences.reduce((sum, { tokens }) => sum + tokens.length, 0);
}

/** The material of a training, and its length. */
export interface TrainingPlan {
  readonly material: Material;
  readonly steps: number;
}

type PlannedJob = Pick<TrainingJob, 'meter' | 'recipe' | 'seed'>;

/**
 * Plans a training. If the money is for too few of the steps that the facts need, the long replay rows go first, and
 * no directions are protected.
 */
export function planTraining(job: PlannedJob & Pick<TrainingJob, 'material'>): TrainingPlan | null {
  const { material, recipe } = job;
  const { neededStepsShare, shortTokens } = recipe.replay;
  const steps = affordableSteps(job, material);
  const needed = neededStepsShare * wantedSteps(material.facts.length, recipe.training);
  if (steps !== null && steps >= needed) return { material, steps };
  const short = material.replay.filter(({ sequence }) => sequence.tokens.length <= shortTokens);
  const economical = { ...material, replay: short.length > 0 ? short : material.replay, protectedDirections: [] };
  const moreSteps = affordableSteps(job, economical);
  return moreSteps === null ? null : { material: economical, steps: moreSteps };
}

/**
 * Beside dev evaluations, the texts whose directions are protected, and base's targets of every replay row that all
 * wanted steps would show. The mean over as many batches as a short run has stands for all of them; the meter holds
 * each step's real cost.
 */
function affordableSteps({ meter, recipe, seed }: PlannedJob, material: Material): number | null {
  const { training } = recipe;
  const stream = batches(material, seed, recipe);
  const sample = Array.from({ length: training.minSteps }, () => tokensOf(stream.next().value));
  const stepTokens = sample.reduce((sum, tokens) => sum + tokens, 0) / sample.length;
  const scored = replayDrawn(material, seed, wantedSteps(material.facts.length, training), recipe);
  const inputTokens =
    training.devEvaluations * tokensOf(material.dev) + tokensOf(scored) + lengthOf(material.protectedDirections);
  const freeNanousd = meter.freeNanousd(recipe.shares.training) - inputTokens * meter.budget.input_nanousd_per_token;
  const stepNanousd = stepTokens * meter.budget.training_nanousd_per_token;
  return planSteps(freeNanousd, stepNanousd, material.facts.length, training);
}

/** Checks the files, whatever the engine has in memory, since evaluation and serving read the files. */
async function checkAdapter(adapter: AdapterReference): Promise<void> {
  if (await isAdapterIntact(adapter)) return;
  throw new EngineError('adapter_damaged', `The adapter in ${adapter.folder} is damaged or missing.`);
}
