import type { EmbeddedEngineOptions } from '../embeddedEngine.js';
import type { Engine } from '../engine.js';
import type { EnginePurpose } from './protocol.js';
import type { Hang, WatchBounds } from './watch.js';

/** The part of a structured logger (pino, for instance) that the host writes to. */
export interface EngineLogger {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
}

export interface EngineHostOptions extends EmbeddedEngineOptions {
  readonly logger?: EngineLogger;
  /** When an engine process counts as hung, and is killed. */
  readonly watch?: Partial<WatchBounds>;
}

/** How an engine process ended: with an exit code or by a signal. */
export interface EngineExit {
  readonly pid: number;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly purpose: EnginePurpose;
  /** What its host killed it for; `exited` when it did not. */
  readonly reason: 'exited' | Hang;
}

/** An engine process whose model is loaded. */
export interface EngineStart {
  readonly pid: number;
  readonly purpose: EnginePurpose;
}

/** An engine in processes of its own: one that serves, and one more for each training session while it is open. */
export interface EngineHost extends Engine {
  /** Process id of the engine that serves, `undefined` between the death of one and the start of the next. */
  readonly pid: number | undefined;
  /** Whether the engine that serves has a process that gave a sign of life in the last seconds. */
  readonly responsive: boolean;
  /** Process ids of the engines that train. */
  readonly trainingPids: readonly number[];
  /** Calls `listener` after every end of an engine process that `close` did not ask for; returns its removal. */
  onExit(listener: (exit: EngineExit) => void): () => void;
  /** Calls `listener` whenever an engine process has loaded its model from now on; returns its removal. */
  onStart(listener: (start: EngineStart) => void): () => void;
}
