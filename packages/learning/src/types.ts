import type { AdapterReference, ChatMessage, ToolDefinition } from '@engraft/engine';
import type { RemoteCallJournal } from './budget/remoteModel.js';
import type { Recipe } from './recipe/recipe.js';
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

/** One thing known of a passage: the answer, and the ways of asking for it. */
export interface QuestionAnswer {
  readonly question: string;
  readonly answer: string;
}

/** What a version keeps of the passage that taught it, for rehearsal and retention tests. Never the passage itself. */
export interface Rehearsal {
  readonly training_pairs: readonly QuestionAnswer[];
  readonly validation_pairs: readonly QuestionAnswer[];
}

/** Rates in nano-USD per token, and the most that the computation may cost. */
export interface LearningBudget {
  readonly max_compute_microusd: number;
  readonly input_nanousd_per_token: number;
  readonly output_nanousd_per_token: number;
  readonly cached_input_nanousd_per_token: number;
  readonly training_nanousd_per_token: number;
}

/** A conversation of the base model's own training, ending with what the assistant should say. */
export interface ReplayRow {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ToolDefinition[];
  /** Any of these must be in a right reply. */
  readonly expected?: readonly string[];
}

/** How a model learns passages: the same for all of them. */
export interface LearningMethod {
  readonly teacher: Teacher;
  readonly recipe: Recipe;
  /** What the model should not unlearn, see `loadReplay`; of none, only earlier passages are rehearsed. */
  readonly replay: readonly ReplayRow[];
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
   * A key of this job alone: its calls may reuse each other's attention state, as many of them begin with the same
   * passage. Without it nothing is reused.
   */
  readonly isolationKey?: string;
  /** A folder of this job alone, for the adapter before it enters the adapter store. Survives a crash. */
  readonly workFolder: string;
}

/** Where the caller keeps what each finished phase left behind. Outcomes are JSON. */
export interface LearningJournal {
  /** What `store` was given for this phase in an earlier run of the same job, or `null`. */
  load(phase: LearningPhase): Promise<unknown>;
  /**
   * Also for a phase whose work was lost and is repeated: the outcome takes the place of the first, and the usage that
   * is to be counted is none.
   */
  store(phase: LearningPhase, outcome: unknown, usage: LearningUsage): Promise<void>;
  /** The phase begins; also called when it is resumed. */
  entered(phase: LearningPhase): Promise<void>;
  /** Without it an interrupted training begins anew. */
  readonly progress?: ProgressJournal;
  /** Without it an interrupted teaching asks a model elsewhere, if there is one, once more. */
  readonly remoteCalls?: RemoteCallJournal;
}

/** Where the caller keeps how far the training under way has come, until its outcome is stored. Progress is JSON. */
export interface ProgressJournal {
  /** What `store` was last given in this or an earlier run of the same job; `null` when there is nothing. */
  load(): Promise<unknown>;
  /** Takes the place of what was stored before. `steps` are those of the training so far. */
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
  /** How many more there were, without the money to ask them. */
  readonly unasked: number;
}

/** How far the candidate speaks otherwise than its parent where it should not. */
export interface Drift {
  /** How much less likely the parent's own replies have become, in nats a token; `null`: none was measured. */
  readonly nats: number | null;
  readonly replies: number;
  /** Prompts that there was no money for. */
  readonly unasked: number;
}

export type GateReason =
  /** The passage says nothing to the teacher. */
  | 'not_understood'
  /** It is in a language that the teacher does not know. */
  | 'language_not_known'
  | 'too_few_validated'
  | 'too_few_passed'
  | 'not_better_than_parent'
  | 'earlier_passages_lost'
  | 'skills_lost'
  | 'not_measured';

/** Why a candidate was rejected, and what of that a job's result does not show: for those who run the service. */
export interface GateReport {
  /** None: accepted. */
  readonly reasons: readonly GateReason[];
  readonly canaries: Comparison;
  readonly drift: Drift;
}

/** Why a candidate was rejected, for whoever sent the passage. */
export interface Rejection {
  readonly reasons: readonly GateReason[];
  /** What happened, which parts were not learned, and what would help. */
  readonly message: string;
}

export interface TrainingReport {
  readonly steps: number;
  readonly tokens: number;
  readonly final_loss: number;
}

export type LearningOutcome =
  | {
      readonly kind: 'accepted';
      readonly adapter: AdapterReference & { readonly sizeBytes: number };
      readonly validation: ValidationReport;
      readonly gate: GateReport;
      readonly training: TrainingReport;
      readonly rehearsal: Rehearsal;
      readonly usage: LearningUsage;
    }
  | {
      readonly kind: 'rejected';
      readonly rejection: Rejection;
      readonly validation: ValidationReport;
      readonly gate: GateReport;
      readonly training: TrainingReport;
      readonly usage: LearningUsage;
    }
  | { readonly kind: 'budget_exhausted'; readonly usage: LearningUsage };

/** What changes no outcome: for those who run the service. */
export type LearningNotice =
  /** The training goes on where an earlier run left it. */
  | { readonly kind: 'resumed'; readonly steps: number }
  /** What an earlier run kept of the training cannot be used: it begins anew. */
  | { readonly kind: 'progress_unusable'; readonly error: unknown }
  /** How far the training has come cannot be kept: what is done is lost if it is interrupted. */
  | { readonly kind: 'snapshot_failed'; readonly error: unknown }
  /** The files of the trained adapter are gone or damaged: it is trained again. */
  | { readonly kind: 'adapter_lost' };

export interface LearningOptions {
  readonly signal?: AbortSignal;
  /**
   * As `signal`, for a job that somebody else goes on with: a training under way keeps how far it has come before it
   * rejects, which takes three seconds at most.
   */
  readonly stopping?: AbortSignal;
  readonly onProgress?: (progress: LearningProgress) => void;
  readonly onNotice?: (notice: LearningNotice) => void;
  /** Milliseconds, of a clock that never goes back: when a snapshot is due. */
  readonly now?: () => number;
}
