import type { EmbeddedEngineOptions } from '../embeddedEngine.js';
import type { Engine } from '../engine.js';
import type { EnginePurpose } from './protocol.js';
import type { Hang, WatchBounds } from './watch.js';

/** The methods of a structured logger, such as pino, that the host uses. */
export interface EngineLogger {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
}

export interface EngineHostOptions extends EmbeddedEngineOptions {
  readonly logger?: EngineLogger;
  /** When an engine process counts as hung and is killed. */
  readonly watch?: Partial<WatchBounds>;
}

/** How an engine process ended: with an exit code or by a signal. */
export interface EngineExit {
  readonly pid: number;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly purpose: EnginePurpose;
  /** Why the host killed it; `exited` if it did not. */
  readonly reason: 'exited' | Hang;
}

/** An engine process whose model is loaded. */
export interface EngineStart {
  readonly pid: number;
  readonly purpose: EnginePurpose;
}

/** An engine that serves, wherever it computes, and that may be away for a while. */
export interface ServingEngine extends Engine {
  /** Whether it can take calls: what serves gave a sign of life in the last seconds. */
  readonly responsive: boolean;
  /** Why it cannot, in words. `null` while it can. */
  readonly trouble: string | null;
  /**
   * Calls `listener` after every end of an engine process that `close` did not ask for. Returns a function that removes
   * it.
   */
  onExit(listener: (exit: EngineExit) => void): () => void;
  /** Calls `listener` whenever an engine process has loaded its model. Returns a function that removes it. */
  onStart(listener: (start: EngineStart) => void): () => void;
}

/** An engine in separate processes: one for serving, and one for each open training session. */
export interface EngineHost extends ServingEngine {
  /** Process id of the serving engine. `undefined` between the death of one and the start of the next. */
  readonly pid: number | undefined;
  /** Process ids of the training engines. */
  readonly trainingPids: readonly number[];
}

/** The part of a host that trains. It has no process until a session is opened. */
export type TrainingHost = Pick<EngineHost, 'openTraining' | 'trainingPids' | 'onExit' | 'onStart' | 'close'>;
