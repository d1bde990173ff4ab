import type { TextRange } from '@engraft/learning/parts';
import type { SalienceFeatures } from '../spans/salience.js';
import type { Span } from '../spans/spans.js';
import type { Relation } from './templates.js';

/** A span that may be asked for, and where it stands. */
export interface Candidate {
  readonly chunk: number;
  readonly sentence: TextRange;
  readonly span: Span;
  readonly cloze: readonly string[];
  readonly derived: readonly string[];
  readonly relations: readonly Relation[];
  readonly keywords: readonly string[];
  /** Questions for what its sentence tells about a table or a list, see `toldQuestions`. */
  readonly tabled: readonly string[];
  /** The passage's own question that the sentence answers, or `null`. */
  readonly stated: string | null;
  readonly features: SalienceFeatures;
  /** Computed from the features, see `salienceOf`. */
  readonly salience: number;
  /** The sentence and what its pronouns and nouns stand for. A question about the span names nothing else. */
  readonly about: string;
}
