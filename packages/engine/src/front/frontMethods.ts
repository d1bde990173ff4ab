/** The calls of a model's front, which runs in a thread. Both ends are of the same build. */
import type { EncodeOptions } from '../engine.js';
import type { PreparedGeneration } from '../scheduling/preparedGeneration.js';
import type {
  AdapterProbe,
  AdapterReference,
  ChatPrompt,
  GenerateRequest,
  GenerateResult,
  ModelDescription,
  ResumeOptions,
  TokenSequence,
  TrainingExample,
  TrainingOptions,
} from '../types.js';
import type {
  PlainBatch,
  ReachedState,
  RunBounds,
  SaveTarget,
  TrainedAdapter,
  TrainingSettings,
  TrainingStart,
} from '../lora/trainingElsewhere.js';

/** The output of a model for a request that was prepared. */
export interface WrittenTokens {
  /** Forced tokens first, the token that ended the output last. */
  readonly tokens: readonly number[];
  readonly ended: 'stop' | 'length';
  /** Prompt tokens whose attention state was reused. */
  readonly reusedTokens: number;
  /** Log-probability of each token, 0 for forced ones; `null` if they were not asked for. */
  readonly logprobs: readonly number[] | null;
}

export interface FrontMethods {
  describe(): ModelDescription;
  countTokens(prompt: ChatPrompt): number;
  encode(prompt: ChatPrompt, completion: string, options: EncodeOptions | undefined): TokenSequence;
  prepare(request: GenerateRequest): PreparedGeneration;
  compose(request: GenerateRequest, promptTokens: number, written: WrittenTokens): GenerateResult;
  probeSequences(): readonly TokenSequence[];
  checkAdapter(reference: AdapterReference): AdapterProbe | null;
  beginTraining(options: TrainingOptions | ResumeOptions): TrainingStart;
  layOutBatch(examples: readonly TrainingExample[], bounds: RunBounds): PlainBatch;
  saveTraining(target: SaveTarget, trained: TrainedAdapter): AdapterReference & { readonly sizeBytes: number };
  snapshotTraining(folder: string, settings: TrainingSettings, reached: ReachedState): void;
}

export type FrontCall = {
  readonly [M in keyof FrontMethods]: { readonly method: M; readonly args: Parameters<FrontMethods[M]> };
}[keyof FrontMethods];
