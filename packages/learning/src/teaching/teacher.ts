import type { AdapterReference, ChatPrompt } from '@engraft/engine';
import type { Fact, Form } from '../facts.js';
import type { PassageSize, TeachingPlan } from '../budget/plan.js';
import type { MeteredCalls } from '../budget/calls.js';
import type { TeachingOutcome } from '../outcomes.js';
import type { Chunk } from '../text/chunk.js';
import type { Told } from '../text/structure/said.js';
import type { QuestionAnswer } from '../types.js';

/** A passage as a teacher reads it. */
export interface TaughtPassage {
  /** The passage in plain sentences, see `plainText`. */
  readonly text: string;
  /** At least one; `Fact` points into them. */
  readonly chunks: readonly Chunk[];
  /** By sentence: the facts of those sentences that were made of tables and lists. */
  readonly told?: ReadonlyMap<string, Told>;
}

export interface TeacherPrompt {
  readonly prompt: ChatPrompt;
  /** What the teacher reads with; `null`: base. */
  readonly adapter: AdapterReference | null;
}

/** What a teacher expects of a passage, before any call. */
export type TeachingSize = Pick<PassageSize, 'factCount' | 'extraReads'>;

/**
 * Who reads a passage, asks about it, and confirms the answers. A teacher knows the language of the passage; the
 * pipeline around it does not. The calls are metered: what no longer fits its share of the cap (`Recipe.shares`) is not
 * answered. The same passage, plan and seed give the same facts, as a job that crashed begins its phase again.
 */
export interface Teacher {
  /** For logs, e.g. 'english'. */
  readonly name: string;

  /** What teaching the passage will take, for the plan that the budget allows. Calls nobody. */
  measure(passage: TaughtPassage): Promise<TeachingSize>;

  /**
   * Whether the passage says anything to the teacher, and if so at most `plan.factCount` facts with questions that ask
   * for them, not trusted yet. `null`: there is no money for it.
   */
  teach(calls: MeteredCalls, passage: TaughtPassage, plan: TeachingPlan, seed: number): Promise<TeachingOutcome | null>;

  /** The facts with the questions that the teacher, asked again with the passage before it, answers as expected. */
  confirm(calls: MeteredCalls, passage: TaughtPassage, facts: readonly Fact[]): Promise<Fact[]>;

  /** How it is asked about a fact, with the passage before it. */
  reading(passage: TaughtPassage, fact: Pick<Fact, 'chunk' | 'sentenceStart'>, question: string): TeacherPrompt;

  /**
   * For each of these pairs about the passage, which are right, more ways of asking for it that may be trained:
   * measures the trainer by itself. Without it there are none.
   */
  rephrase?(
    calls: MeteredCalls,
    passage: TaughtPassage,
    pairs: readonly QuestionAnswer[],
    seed: number,
  ): Promise<Form[][]>;
}
