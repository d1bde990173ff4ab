import type { AdapterReference, ChatMessage, ToolDefinition } from '@engraft/engine';
import type { BaseMemory } from './baseMemory.js';
import type { LossPoint } from './lossCurve.js';
import type { RemoteCallJournal } from './budget/remoteModel.js';
import type { AnswersWith, Recipe } from './recipe/recipe.js';
import type { Teacher } from './teaching/teacher.js';

/** The phases of a learning job, in order; each one's outcome is stored before the next begins. */
export const learningPhases = ['teaching', 'scoring', 'training', 'evaluating'] as const;
export type LearningPhase = (typeof learningPhases)[number];

/** Tokens that a phase used, in the units that are billed. */
export interface LearningUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_input_tokens: number;
  readonly training_tokens: number;
}

/** One way of asking for one thing, and the answer. */
export interface QuestionAnswer {
  readonly question: string;
  readonly answer: string;
}

/**
 * A version's memory of the passage that taught it, for rehearsal and retention questions. It never keeps the passage
 * itself.
 */
export interface Rehearsal {
  /** The kind of answers that was trained. `answer` is a value in any case. Older versions do not tell. */
  readonly answers_with?: AnswersWith;
  readonly training_pairs: readonly QuestionAnswer[];
  readonly validation_pairs: readonly QuestionAnswer[];
}

/** Rates in nano-USD a token, and the most that the computation may cost. */
export interface LearningBudget {
  readonly max_compute_microusd: number;
  readonly input_nanousd_per_token: number;
  readonly output_nanousd_per_token: number;
  readonly cached_input_nanousd_per_token: number;
  readonly training_nanousd_per_token: number;
}

/** A conversation of the base model's own training, which ends with what the assistant should say. */
export interface ReplayRow {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ToolDefinition[];
  /** A right reply contains one of these. */
  readonly expected?: readonly string[];
  /** Whether only the reply's first tokens are trained, see `ReplayRecipe.beginningRowsPerBatch`. By default false. */
  readonly beginning?: boolean;
  /** Whether one wrong token spoils the reply: an object or a sum. By default false. */
  readonly exact?: boolean;
}

/** How a model learns passages. It is the same for all passages. */
export interface LearningMethod {
  readonly teacher: Teacher;
  readonly recipe: Recipe;
  /** Rows that the model should not unlearn, see `loadReplay`. Without any, only earlier passages are rehearsed. */
  readonly replay: readonly ReplayRow[];
  /** Spares jobs what base was asked before. Without it, each asks anew. */
  readonly baseMemory?: BaseMemory;
}

export interface LearningInput extends LearningMethod {
  /** The passage: 20–16,000 UTF-16 units. */
  readonly content: string;
  /** The version to start from; `null` for base. */
  readonly parent: AdapterReference | null;
  /** Rehearsals of the parent and its ancestors, oldest first. */
  readonly earlier: readonly Rehearsal[];
  readonly budget: LearningBudget;
  readonly seed: number;
  /**
   * A key of this job alone. Its calls may reuse each other's attention state, since many begin with the same passage.
   * Nothing is reused without a key.
   */
  readonly isolationKey?: string;
  /** A folder of this job alone, for the adapter until it enters the adapter store. It survives a crash. */
  readonly workFolder: string;
}

/** Keeps what each finished phase left behind. Outcomes are JSON. */
export interface LearningJournal {
  /** Returns what `store` was given for this phase in an earlier run of the same job, or `null`. */
  load(phase: LearningPhase): Promise<unknown>;
  /**
   * Also called for a phase whose work was lost and repeated. Then the outcome replaces the first one, and the usage to
   * be counted is none.
   */
  store(phase: LearningPhase, outcome: unknown, usage: LearningUsage): Promise<void>;
  /** The phase begins, or is resumed. */
  entered(phase: LearningPhase): Promise<void>;
  /** Without it, an interrupted training begins anew. */
  readonly progress?: ProgressJournal;
  /** Without it, an interrupted teaching asks a remote model once more, if there is one. */
  readonly remoteCalls?: RemoteCallJournal;
}

/** Keeps how far a training has come, until its outcome is stored. Progress is JSON. */
export interface ProgressJournal {
  /** Returns what `store` was last given in this or an earlier run of the same job, or `null`. */
  load(): Promise<unknown>;
  /** Replaces what was stored before. `steps` are the training steps so far. */
  store(progress: unknown, steps: number): Promise<void>;
}

export interface LearningProgress {
  readonly phase: LearningPhase;
  readonly done: number;
  readonly total: number;
}

export interface ValidationReport {
  readonly passed: boolean;
  readonly passed_count: number;
  readonly total_count: number;
  readonly base_passed_count: number;
  readonly retention_passed_count: number;
  readonly retention_total_count: number;
}

/** How many of the same questions the candidate and its parent answered. */
export interface Comparison {
  readonly candidate: number;
  readonly parent: number;
  readonly total: number;
  /** How many more there were that there was no money to ask. */
  readonly unasked: number;
}

/** How differently the candidate speaks where it should speak like its parent. */
export interface Drift {
  /** How much less likely the parent's own replies have become, in nats a token. `null` if nothing was measured. */
  readonly nats: number | null;
  readonly replies: number;
  /** Prompts that there was no money to ask. */
  readonly unasked: number;
}

export type GateReason =
  /** The passage says nothing to the teacher. */
  | 'not_understood'
  /** The teacher does not know the language of the passage. */
  | 'language_not_known'
  | 'too_few_validated'
  | 'too_few_passed'
  | 'not_better_than_parent'
  | 'earlier_passages_lost'
  | 'skills_lost'
  | 'not_measured';

/** Why a candidate was rejected, for operators. It includes what a job's result does not show. */
export interface GateReport {
  /** Empty if the candidate was accepted. */
  readonly reasons: readonly GateReason[];
  readonly canaries: Comparison;
  readonly drift: Drift;
}

/** Why a candidate was rejected, for whoever sent the passage. */
export interface Rejection {
  readonly reasons: readonly GateReason[];
  /** Says what happened, which parts were not learned, and what would help. */
  readonly message: string;
}

export interface TrainingReport {
  readonly steps: number;
  readonly tokens: number;
  readonly final_loss: number;
}

/** A reply to a held-out question. Its text is `null` where replies may be sentences of a passage. */
export interface HeldOutReply {
  readonly text: string | null;
  readonly is_right: boolean;
}

/** A held-out question with the expected answer, and the replies of the parent and the candidate. */
export interface AskedQuestion extends QuestionAnswer {
  readonly parent: HeldOutReply;
  readonly candidate: HeldOutReply;
}

/** How the learning went, for people to look at. Nothing of it is a sentence of the passage. */
export interface LearningTrace {
  readonly loss: readonly LossPoint[];
  /** At most 100. */
  readonly questions: readonly AskedQuestion[];
}

export type LearningOutcome =
  | {
      readonly kind: 'accepted';
      readonly adapter: AdapterReference & { readonly sizeBytes: number };
      readonly validation: ValidationReport;
      readonly gate: GateReport;
      readonly training: TrainingReport;
      readonly trace: LearningTrace;
      readonly rehearsal: Rehearsal;
      readonly usage: LearningUsage;
    }
  | {
      readonly kind: 'rejected';
      readonly rejection: Rejection;
      readonly validation: ValidationReport;
      readonly gate: GateReport;
      readonly training: TrainingReport;
      readonly trace: LearningTrace;
      readonly usage: LearningUsage;
    }
  | { readonly kind: 'budget_exhausted'; readonly usage: LearningUsage };

/** Events that change no outcome, for operators. */
export type LearningNotice =
  /** The training goes on where an earlier run left it. */
  | { readonly kind: 'resumed'; readonly steps: number }
  /** Progress that an earlier run kept cannot be used, so the training begins anew. */
  | { readonly kind: 'progress_unusable'; readonly error: unknown }
  /** Progress cannot be kept. If the training is interrupted, its work is lost. */
  | { readonly kind: 'snapshot_failed'; readonly error: unknown }
  /** The files of the trained adapter are gone or damaged, so it is trained again. */
  | { readonly kind: 'adapter_lost' };

export interface LearningOptions {
  readonly signal?: AbortSignal;
  /**
   * Aborts like `signal`, for a job that another run goes on with. A training under way keeps its progress before it
   * rejects, which takes three seconds at most.
   */
  readonly stopping?: AbortSignal;
  readonly onProgress?: (progress: LearningProgress) => void;
  readonly onNotice?: (notice: LearningNotice) => void;
  /** Milliseconds on a monotonic clock. It tells when a snapshot is due. */
  readonly now?: () => number;
}
