import type { TextRange } from '@engraft/learning/parts';
import type { SalienceFeatures } from '../spans/salience.js';
import type { Span } from '../spans/spans.js';
import type { Relation } from './templates.js';
import type { ToldQuestions } from './toldQuestions.js';

/** A span that may be asked for, and where it stands. */
export interface Candidate {
  readonly chunk: number;
  readonly sentence: TextRange;
  readonly span: Span;
  readonly cloze: readonly string[];
  readonly derived: readonly string[];
  readonly relations: readonly Relation[];
  readonly keywords: readonly string[];
  /** Those for what its sentence tells of a table or a list; `null` of any other sentence. */
  readonly tabled: ToldQuestions | null;
  /** The question of the passage itself that the sentence answers; `null` where it follows none. */
  readonly stated: string | null;
  /** The name of the document's title, where the sentence is prose of a document; `null` of any other sentence. */
  readonly document: { readonly title: string | null } | null;
  readonly features: SalienceFeatures;
  /** Computed from the features, see `salienceOf`. */
  readonly salience: number;
  /** The sentence and what its pronouns and nouns stand for. A question about the span names nothing else. */
  readonly about: string;
}
