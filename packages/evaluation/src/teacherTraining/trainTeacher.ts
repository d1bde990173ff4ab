/**
 * Trains a teaching adapter: LoRA that makes a checkpoint read, ask, list and rephrase as people do. It is used while a
 * passage is taught and scored, and never to answer callers.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  EngineError,
  type AdapterReference,
  type CallOptions,
  type Engine,
  type TrainingExample,
  type TrainingSession,
} from '@engraft/engine';
import { z } from 'zod';
import { deriveSeed, endlessRounds, mapConcurrently, mean, randomNumbers } from '@engraft/learning/parts';
import type { Prompts } from '@engraft/learning';
import type { Paragraph } from '../squad/paragraphs.js';
import { teachingRows, type TeachingTask } from './rows.js';

export interface TeacherTraining {
  readonly engine: Engine;
  readonly paragraphs: readonly Paragraph[];
  /** The prompts that the model will get. */
  readonly prompts: Prompts;
  /** A folder of this training alone. It keeps what the training needs to go on, and finally the adapter. */
  readonly folder: string;
  /** An adapter of the same rank to start from, such as one of an earlier training. `null` for a new one. */
  readonly parent?: AdapterReference | null;
  readonly steps: number;
  readonly seed: number;
  /** Steps between two snapshots. The steps since the last snapshot may be lost. */
  readonly snapshotSteps?: number;
  readonly signal?: AbortSignal;
  readonly onStep?: (progress: TeacherProgress) => void;
}

export interface TeacherProgress {
  /** Steps done, including those of earlier runs. */
  readonly done: number;
  readonly total: number;
  /** Mean loss of the last steps, in nats a token. */
  readonly loss: number;
  /** Tokens that went through the model in this run. */
  readonly tokens: number;
}

/** Weights and schedule come from a trial on SmolLM2-135M-Instruct, see docs/experiments/. */
const teacherSettings = {
  warmupSteps: 10,
  /** The rate falls linearly to this share of its peak. */
  finalRateShare: 0.1,
  clipNorm: 1,
  paragraphsPerStep: 4,
  /** Longer paragraphs cost more than their questions are worth. */
  maxParagraphChars: 1_000,
  /** The weight of a row's mean target loss, by task. */
  weights: { read: 1, decline: 0.3, answers: 0.7, ask: 0.7, list: 0.5, rephrase: 0.5 } satisfies Record<
    TeachingTask,
    number
  >,
} as const;

interface AdapterSettings {
  readonly rank: number;
  readonly alpha: number;
  readonly peakRate: number;
}

/** A model with fewer parameters is narrow, and needs more of its width for all tasks. */
const largeParameters = 50e6;
/** Tried with SmolLM2-135M-Instruct. */
const ofLargeModels: AdapterSettings = { rank: 16, alpha: 32, peakRate: 1e-3 };
/** Tried with the shipped model. */
const ofSmallModels: AdapterSettings = { rank: 64, alpha: 128, peakRate: 2.5e-3 };

const defaultSnapshotSteps = 20;
/** The number of last steps whose mean loss the progress shows. */
const recentSteps = 20;

const progressSchema = z.object({
  /** Identifies what the training began with. Another identity starts anew. */
  identity: z.string(),
  step: z.int().nonnegative(),
  snapshot: z.string(),
});

/**
 * Goes on where an earlier run with the same folder, data and settings stopped. Returns the adapter, in F16, in
 * `<folder>/adapter`. Rejects with `EngineError` when the engine fails or the signal aborts. Then the folder holds what
 * the next run needs.
 */
export async function trainTeacher(training: TeacherTraining): Promise<AdapterReference> {
  await mkdir(training.folder, { recursive: true });
  const { engine, folder } = training;
  const { contentHash: model, parameters } = await engine.describe();
  const settings = parameters < largeParameters ? ofSmallModels : ofLargeModels;
  const identity = identityOf(training, model, settings);
  const progress = await readProgress(folder);
  const resumed = progress?.identity === identity ? await resume(engine, folder, progress) : null;
  const session =
    resumed?.session ??
    (await engine.openTraining({
      parent: training.parent ?? null,
      rank: settings.rank,
      alpha: settings.alpha,
      seed: deriveSeed(training.seed, 'teacher'),
      clipNorm: teacherSettings.clipNorm,
    }));
  try {
    await runSteps(training, session, { identity, step: resumed?.step ?? 0, peakRate: settings.peakRate });
    const adapter = path.join(folder, 'adapter');
    const fresh = `${adapter}.new`;
    await rm(fresh, { recursive: true, force: true });
    // F16 halves the size. Rounding changes its answers far less than a step does.
    const { contentHash } = await session.save(fresh, 'F16');
    await rm(adapter, { recursive: true, force: true });
    await rename(fresh, adapter);
    return { folder: adapter, contentHash };
  } finally {
    await session.close();
  }
}

/** `null` if the snapshot is missing or damaged. Then the training begins anew. */
async function resume(
  engine: Engine,
  folder: string,
  { snapshot, step }: Progress,
): Promise<{ readonly session: TrainingSession; readonly step: number } | null> {
  try {
    return { session: await engine.openTraining({ resume: path.join(folder, snapshot) }), step };
  } catch (error) {
    const isUnusable = error instanceof EngineError && ['adapter_invalid', 'adapter_damaged'].includes(error.code);
    if (isUnusable) return null;
    throw error;
  }
}

interface Begun {
  readonly identity: string;
  readonly step: number;
  readonly peakRate: number;
}

async function runSteps(
  {
    engine,
    paragraphs,
    prompts,
    folder,
    steps,
    seed,
    signal,
    onStep,
    snapshotSteps = defaultSnapshotSteps,
  }: TeacherTraining,
  session: TrainingSession,
  { identity, step: first, peakRate }: Begun,
): Promise<void> {
  const options: CallOptions = signal === undefined ? {} : { signal };
  const stream = batches(paragraphs, seed);
  for (let step = 0; step < first; step += 1) stream.next();
  const losses: number[] = [];
  let tokens = 0;
  for (let step = first; step < steps; step += 1) {
    const examples = await encode(engine, prompts, stream.next().value);
    const result = await session.step(examples, peakRate * rateShareAt(step, steps), options);
    tokens += result.tokens;
    losses.push(result.loss);
    const done = step + 1;
    onStep?.({ done, total: steps, loss: mean(losses.slice(-recentSteps)), tokens });
    if (done % snapshotSteps === 0 || done === steps) await keepProgress(folder, session, identity, done);
  }
}

interface Batch {
  readonly chosen: readonly Paragraph[];
  readonly others: readonly (readonly Paragraph[])[];
  readonly seed: number;
}

/** Endless. Each round has every paragraph that is short enough, in a new order. */
function* batches(paragraphs: readonly Paragraph[], seed: number): Generator<Batch, never> {
  const short = paragraphs.filter(({ context }) => context.length <= teacherSettings.maxParagraphChars);
  if (short.length === 0) {
    throw new RangeError(`no paragraph has at most ${teacherSettings.maxParagraphChars} characters`);
  }
  const byTitle = groupByTitle(paragraphs);
  const rounds = endlessRounds(short, randomNumbers(deriveSeed(seed, 'paragraphs')));
  for (let step = 0; ; step += 1) {
    const chosen = Array.from(
      { length: teacherSettings.paragraphsPerStep },
      () => rounds.next().value ?? short[0],
    ).filter((paragraph) => paragraph !== undefined);
    const others = chosen.map((one) => (byTitle.get(one.title) ?? []).filter((other) => other !== one));
    yield { chosen, others, seed: deriveSeed(seed, 'rows', step) };
  }
}

function groupByTitle(paragraphs: readonly Paragraph[]): Map<string, Paragraph[]> {
  const groups = new Map<string, Paragraph[]>();
  for (const paragraph of paragraphs) {
    const group = groups.get(paragraph.title) ?? [];
    group.push(paragraph);
    groups.set(paragraph.title, group);
  }
  return groups;
}

function encode(engine: Engine, prompts: Prompts, { chosen, others, seed }: Batch): Promise<TrainingExample[]> {
  const random = randomNumbers(seed);
  const rows = chosen.flatMap((paragraph, index) => teachingRows(paragraph, others[index] ?? [], prompts, random));
  return mapConcurrently(rows, async ({ task, prompt, completion }) => {
    return { sequence: await engine.encode(prompt, completion), weight: teacherSettings.weights[task] };
  });
}

/** As a share of the peak. `step` counts from 0. */
function rateShareAt(step: number, steps: number): number {
  const { warmupSteps, finalRateShare } = teacherSettings;
  const warmup = Math.min(1, (step + 1) / warmupSteps);
  return warmup * (1 - (1 - finalRateShare) * (step / steps));
}

/** A hash of everything that the numbers of a step depend on. */
function identityOf(
  { paragraphs, prompts, parent = null, ...rest }: TeacherTraining,
  model: string,
  settings: AdapterSettings,
): string {
  const data = createHash('sha256').update(JSON.stringify(paragraphs)).digest('hex');
  const { steps, seed } = rest;
  const from = parent?.contentHash ?? null;
  return JSON.stringify({ model, data, prompts: prompts.name, from, steps, seed, ...settings, teacherSettings });
}

type Progress = z.infer<typeof progressSchema>;

/** `null` if there is nothing to go on from. A damaged file counts as nothing. */
async function readProgress(folder: string): Promise<Progress | null> {
  const text = await readFile(progressFile(folder), 'utf8').catch(() => '');
  try {
    return progressSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** A rename makes the new snapshot the current one. Only then is the old one removed. */
async function keepProgress(folder: string, session: TrainingSession, identity: string, step: number): Promise<void> {
  const old = (await readProgress(folder))?.snapshot;
  const snapshot = `snapshot-${step}`;
  await rm(path.join(folder, snapshot), { recursive: true, force: true });
  await session.snapshot(path.join(folder, snapshot));
  const partial = `${progressFile(folder)}.new`;
  await writeFile(partial, JSON.stringify({ identity, step, snapshot }), { flush: true });
  await rename(partial, progressFile(folder));
  if (old !== undefined && old !== snapshot) await rm(path.join(folder, old), { recursive: true, force: true });
}

function progressFile(folder: string): string {
  return path.join(folder, 'progress.json');
}
