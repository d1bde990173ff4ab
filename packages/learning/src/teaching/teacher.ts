import type { AdapterReference, ChatPrompt } from '@engraft/engine';
import type { Fact, Form } from '../facts.js';
import type { PassageSize, TeachingPlan } from '../budget/plan.js';
import type { MeteredCalls } from '../budget/calls.js';
import type { TeachingOutcome } from '../outcomes.js';
import type { Chunk } from '../text/chunk.js';
import type { Told } from '../text/structure/said.js';
import type { QuestionAnswer } from '../types.js';
import type { PoorSentence } from './poorSentences.js';

/** A passage as a teacher reads it. */
export interface TaughtPassage {
  /** The passage in plain sentences, see `plainText`. */
  readonly text: string;
  /** At least one. `Fact` points into them. */
  readonly chunks: readonly Chunk[];
  /** The facts in sentences that were made of tables and lists, by sentence. */
  readonly told?: ReadonlyMap<string, Told>;
}

export interface TeacherPrompt {
  readonly prompt: ChatPrompt;
  /** The adapter that the teacher reads with, or `null` for base. */
  readonly adapter: AdapterReference | null;
}

/** A teacher's estimate of a passage, before any call. */
export type TeachingSize = Pick<PassageSize, 'factCount' | 'extraReads'>;

/**
 * A teacher reads a passage, asks about it, and confirms the answers. It knows the language of the passage; the
 * pipeline around it does not.
 *
 * Its calls are metered: what no longer fits its share of the cap (`Recipe.shares`) is not answered. The same passage,
 * plan and seed give the same facts, since a job that crashed begins its phase again.
 */
export interface Teacher {
  /** For logs, e.g. 'english'. */
  readonly name: string;

  /** Says what teaching the passage will take, for a plan within the budget. It makes no calls. */
  measure(passage: TaughtPassage): Promise<TeachingSize>;

  /**
   * Says whether the passage means anything to the teacher. If so, it returns at most `plan.factCount` facts with
   * questions that ask for them, which are not trusted yet. `null` means that there is no money for it.
   */
  teach(calls: MeteredCalls, passage: TaughtPassage, plan: TeachingPlan, seed: number): Promise<TeachingOutcome | null>;

  /**
   * Asks the teacher again, with the passage before it, and returns the facts with the questions that it answers as
   * expected.
   */
  confirm(calls: MeteredCalls, passage: TaughtPassage, facts: readonly Fact[]): Promise<Fact[]>;

  /** How the teacher is asked about a fact, with the passage before it. */
  reading(
    passage: TaughtPassage,
    fact: Pick<Fact, 'chunk' | 'sentenceStart' | 'teacher'>,
    question: string,
  ): TeacherPrompt;

  /**
   * Different questions about each of these sentences, with what each asks for, which need not be right. A teacher
   * without this gives none.
   */
  askAbout?(calls: MeteredCalls, sentences: readonly PoorSentence[], seed: number): Promise<QuestionAnswer[][]>;

  /**
   * More ways of asking for each of these right pairs about the passage, which may be trained. They measure the
   * training by itself. A teacher without this gives none.
   */
  rephrase?(
    calls: MeteredCalls,
    passage: TaughtPassage,
    pairs: readonly QuestionAnswer[],
    seed: number,
  ): Promise<Form[][]>;
}
