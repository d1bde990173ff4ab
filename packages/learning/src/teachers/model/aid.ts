import type { Fact } from '../../facts.js';
import type { TaughtPassage } from '../../teaching/teacher.js';

/** Rules of a language, for a model that is too small to teach alone. */
export interface TeachingAid {
  /** More answers that one could ask for, with the index of the chunk that gives each. */
  answers(passage: TaughtPassage): Promise<readonly { readonly chunk: number; readonly answer: string }[]>;
  /**
   * The facts that the passage does not contradict, asked for in the words of their own sentences, too. Those that
   * nobody asks for are left out.
   */
  complete(passage: TaughtPassage, facts: readonly Fact[]): Promise<Fact[]>;
}
