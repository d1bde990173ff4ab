/**
 * The messages between the host and its engine process, over Node's IPC channel with structured cloning. Both ends are
 * of the same build, so only a message's kind is checked.
 */
import type { EmbeddedEngineOptions } from '../embeddedEngine.js';
import { EngineError, type EncodeOptions, type EngineErrorCode } from '../engine.js';
import type {
  AdapterPrecision,
  AdapterReference,
  ChatPrompt,
  GenerateRequest,
  GenerateResult,
  ModelDescription,
  ResumeOptions,
  ScoreRequest,
  SequenceScore,
  StepResult,
  TokenSequence,
  TrainingExample,
  TrainingOptions,
} from '../types.js';

type Batch = readonly TrainingExample[];

/**
 * The calls that the engine process answers. A training session is known by the number from `openTraining` and ends
 * with the process.
 */
export interface RemoteMethods {
  describe(): ModelDescription;
  countTokens(prompt: ChatPrompt): number;
  encode(prompt: ChatPrompt, completion: string, options: EncodeOptions | undefined): TokenSequence;
  generate(request: GenerateRequest): GenerateResult;
  score(request: ScoreRequest): readonly SequenceScore[];
  openTraining(options: TrainingOptions | ResumeOptions): number;
  forgetPrefixes(isolationKey: string): undefined;
  forgetUnusedWeights(): undefined;
  trainingStep(session: number, batch: Batch, learningRate: number): StepResult;
  trainingEvaluate(session: number, batch: Batch): StepResult;
  trainingSave(
    session: number,
    folder: string,
    precision: AdapterPrecision | undefined,
  ): AdapterReference & { readonly sizeBytes: number };
  trainingSnapshot(session: number, folder: string): undefined;
}

export type MethodName = keyof RemoteMethods;
export type MethodArguments<M extends MethodName> = Parameters<RemoteMethods[M]>;
export type MethodResult<M extends MethodName> = ReturnType<RemoteMethods[M]>;

/** A call of one of the methods. Its `id` is unique within the process's life. */
export type CallMessage = {
  readonly [M in MethodName]: {
    readonly kind: 'call';
    readonly id: number;
    readonly method: M;
    readonly args: MethodArguments<M>;
  };
}[MethodName];

/** A training process gives way to serving ones. */
export type EnginePurpose = 'serving' | 'training';

export type HostMessage =
  /** The first message: the model to load and the process's purpose. Answered by `ready` or `refused`. */
  | { readonly kind: 'open'; readonly options: EmbeddedEngineOptions; readonly purpose: EnginePurpose }
  | CallMessage
  /** The caller has lost interest in the call. It is still answered. */
  | { readonly kind: 'cancel'; readonly id: number };

/** An `EngineError` in transit. Stacks and causes travel as `WireTrouble`. */
export interface WireError {
  readonly code: EngineErrorCode;
  readonly message: string;
}

/** A warning, or an error that is the engine's own fault, for the logs. */
export interface WireTrouble {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  readonly cause: WireTrouble | null;
}

export type ChildMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'trouble'; readonly trouble: WireTrouble }
  | { readonly kind: 'refused'; readonly error: WireError }
  | { readonly kind: 'result'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'error'; readonly id: number; readonly error: WireError };

export function isHostMessage(message: unknown): message is HostMessage {
  return hasKind(message, ['open', 'call', 'cancel']);
}

export function isChildMessage(message: unknown): message is ChildMessage {
  return hasKind(message, ['ready', 'trouble', 'refused', 'result', 'error']);
}

function hasKind(message: unknown, kinds: readonly string[]): boolean {
  return (
    typeof message === 'object' &&
    message !== null &&
    'kind' in message &&
    typeof message.kind === 'string' &&
    kinds.includes(message.kind)
  );
}

export function toWireError(error: unknown): WireError {
  if (error instanceof EngineError) return { code: error.code, message: error.message };
  return { code: 'internal', message: error instanceof Error ? error.message : String(error) };
}

export function fromWireError({ code, message }: WireError): EngineError {
  return new EngineError(code, message);
}

export function toWireTrouble(error: unknown): WireTrouble {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), stack: '', cause: null };
  const { name, message, stack = '', cause } = error;
  return { name, message, stack, cause: cause === undefined ? null : toWireTrouble(cause) };
}

export function fromWireTrouble({ name, message, stack, cause }: WireTrouble): Error {
  const error = cause === null ? new Error(message) : new Error(message, { cause: fromWireTrouble(cause) });
  return Object.assign(error, { name, stack });
}
