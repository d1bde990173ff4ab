import type { GateReport, ValidationReport } from '@engraft/learning';
import type { Tally } from './asking.js';
import type { CanaryReport } from './canaries.js';
import type { Learned } from './learners.js';

/** The results of one passage. They are written to JSON files as they are, hence the names. */
export interface PassageReport {
  readonly id: string;
  readonly kind: string;
  /** The length of the passage in UTF-16 units. */
  readonly chars: number;
  readonly verdict: Learned['verdict'];
  /**
   * All phrasings of all questions without the passage, with it, and without it after learning. `null` if not asked.
   */
  readonly base: Tally | null;
  readonly reading: Tally | null;
  /** `reading` with prompts for models that follow instructions. Which prompts read best depends on the checkpoint. */
  readonly reading_instructed: Tally | null;
  readonly learned: Tally | null;
  /** `learned`, over the phrasings that were trained, and over the others. */
  readonly trained: Tally | null;
  readonly unseen: Tally | null;
  /** Questions of other passages, asked after learning as if they were about this one. Nothing here answers them. */
  readonly elsewhere: Tally | null;
  /** The passage was too long for one prompt, so each question was asked with the chunk that holds its answer. */
  readonly read_in_chunks: boolean;
  readonly validation: ValidationReport | null;
  readonly gate: GateReport | null;
  readonly fact_count: number;
  readonly steps: number;
  readonly canaries: CanaryReport | null;
  readonly retention: Retention | null;
  /** Time spent learning, without measuring. */
  readonly seconds: number;
  readonly phase_seconds: Learned['phaseSeconds'];
  readonly cost_microusd: number;
}

/** The earlier passages of a chain, asked again after this one. */
export interface Retention {
  readonly first_id: string;
  /** Passages that the weights now hold, including the first one. */
  readonly learned_count: number;
  /** Tally of the first passage when it was learned, and now. */
  readonly before: Tally;
  readonly after: Tally;
  /** The same for all passages before this one together. */
  readonly all_before: Tally;
  readonly all_after: Tally;
}
