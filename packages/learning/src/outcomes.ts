/** The outcomes of phases as the journal keeps them. The schemas check what is read back after a crash. */
import path from 'node:path';
import { z } from 'zod';
import { factSchema, formSchema } from './facts.js';
import { emptyCurve, lossCurveSchema } from './lossCurve.js';
import type { LearningJournal, LearningPhase, LearningUsage } from './types.js';

const count = z.number().int().nonnegative();

export const usageSchema = z.object({
  input_tokens: count,
  output_tokens: count,
  cached_input_tokens: count,
  training_tokens: count,
});

const topKSchema = z.object({ ids: z.array(count).readonly(), logprobs: z.array(z.number()).readonly() });

const pairSchema = z.object({ question: z.string(), answer: z.string() });

/** See `Rehearsal`. */
export const rehearsalSchema = z.object({
  answers_with: z.enum(['values', 'sentences']).exactOptional(),
  training_pairs: z.array(pairSchema).readonly(),
  validation_pairs: z.array(pairSchema).readonly(),
});

export const teachingSchema = z.object({
  facts: z.array(factSchema).readonly(),
  /** Whether the passage says anything to the teacher. If not, nothing was asked. */
  understood: z.boolean().default(true),
  /** False if the passage is in a language that the teacher does not know. */
  language_known: z.boolean().exactOptional(),
  /** False if enough of the passage could not be asked for in good questions. By default true. */
  asked_well: z.boolean().exactOptional(),
});
export type TeachingOutcome = z.infer<typeof teachingSchema>;

const splitFactSchema = z.object({
  answer: z.string(),
  training: z.array(formSchema).readonly(),
  dev: z.array(formSchema).readonly(),
  validation: z.array(formSchema).readonly(),
  softTargets: z.array(topKSchema).readonly().nullable(),
});

const sentenceQuestionsSchema = z.object({ sentence: z.string(), questions: z.array(z.string()).readonly() });
/** Questions that a sentence of the passage answers, whatever value they ask for. */
export type SentenceQuestions = z.infer<typeof sentenceQuestionsSchema>;

export const scoringSchema = z.object({
  /** The facts to be learned. */
  facts: z.array(splitFactSchema).readonly(),
  /** Questions that the parent already answers without the passage. */
  known: z.array(pairSchema).readonly(),
  /** More questions about sentences, which are only trained, see `askAboutPoorSentences`. */
  sentences: z.array(sentenceQuestionsSchema).readonly().exactOptional(),
  /** Rehearsal of the earlier passages in place of what their versions keep, see `rehearsedByParent`. */
  rehearsal: z.array(rehearsalSchema).readonly().exactOptional(),
});
export type ScoringOutcome = z.infer<typeof scoringSchema>;

export const trainingSchema = z.object({
  /**
   * `folder` is relative to the parent of the work folder, in which every run of a job has a folder of its own. It may
   * lie elsewhere when the job goes on, on another machine or after a restore.
   */
  adapter: z.object({ folder: z.string(), contentHash: z.string(), sizeBytes: count }),
  report: z.object({ steps: count, tokens: count, final_loss: z.number() }),
  curve: lossCurveSchema.default(emptyCurve),
});
export type TrainingOutcome = z.infer<typeof trainingSchema>;

export type TrainedAdapter = TrainingOutcome['adapter'];

/** Where the adapter of a stored outcome lies now, for a run with this work folder. */
export function adapterIn(workFolder: string, { adapter }: TrainingOutcome): TrainedAdapter {
  return { ...adapter, folder: folderIn(workFolder, adapter.folder) };
}

/** The adapter as it is stored. */
export function adapterFrom(workFolder: string, adapter: TrainedAdapter): TrainedAdapter {
  return { ...adapter, folder: folderFrom(workFolder, adapter.folder) };
}

/** Where a stored folder lies now, for a run with this work folder. */
export function folderIn(workFolder: string, stored: string): string {
  return path.resolve(path.dirname(workFolder), stored);
}

/** The folder as it is stored. */
export function folderFrom(workFolder: string, folder: string): string {
  return path.relative(path.dirname(workFolder), folder);
}

const comparisonSchema = z.object({ candidate: count, parent: count, total: count, unasked: count.default(0) });

export const evaluatingSchema = z.object({
  validation: comparisonSchema,
  retention: comparisonSchema,
  canaries: comparisonSchema,
  drift: z
    .object({ nats: z.number().nullable(), replies: count, unasked: count })
    .default({ nats: null, replies: 0, unasked: 0 }),
  /** The held-out questions that were asked, in the order of the validation pairs, with both replies. */
  replies: z
    .array(z.object({ candidate: z.string(), parent: z.string() }))
    .readonly()
    .default([]),
  /** Held-out questions that the candidate did not answer. */
  missed: z.array(z.string()).readonly().default([]),
});
export type EvaluatingOutcome = z.infer<typeof evaluatingSchema>;

export interface PhaseResult<Outcome> {
  readonly outcome: Outcome;
  readonly usage: LearningUsage;
}

/** Returns what an earlier run of the job stored for this phase, or `null`. Throws if the schema does not fit it. */
export async function loadPhase<Outcome>(
  journal: LearningJournal,
  phase: LearningPhase,
  schema: z.ZodType<Outcome>,
): Promise<PhaseResult<Outcome> | null> {
  const stored = await journal.load(phase);
  if (stored === null || stored === undefined) return null;
  return z.object({ outcome: schema, usage: usageSchema }).parse(stored);
}
