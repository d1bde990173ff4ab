import { fork, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { EmbeddedEngineOptions } from '../embeddedEngine.js';
import { EngineError, type CallOptions } from '../engine.js';
import { removeLeftConstants } from '../inference/constantFolder.js';
import { cancelled, engineClosed } from '../support/cancelling.js';
import { heartbeatDescriptor } from './heartbeat.js';
import type { EngineExit, EngineLogger } from './hostTypes.js';
import {
  fromWireError,
  fromWireTrouble,
  isChildMessage,
  type ChildMessage,
  type EnginePurpose,
  type HostMessage,
  type MethodArguments,
  type MethodName,
  type MethodResult,
} from './protocol.js';
import { allocatorVariables, nodeArguments } from './processSettings.js';
import { Watch, type Hang, type WatchBounds } from './watch.js';

/** The time between a polite end and SIGKILL. A running computation ends within it or is cut off. */
const graceMs = 3_000;

/** The engine answers an aborted call at the next step. The caller waits this long for that answer. */
const cancelMs = 2_000;

/** The engine needs no secrets of the service, so it inherits only the variables that a process needs to run. */
const inheritedVariables = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'LC_ALL', 'TZ', 'LD_LIBRARY_PATH', 'NODE_V8_COVERAGE'];

export interface ProcessSettings {
  readonly purpose: EnginePurpose;
  readonly watch: WatchBounds;
  /** Gets the process's messages. Without it they go to standard error. */
  readonly logger: EngineLogger | undefined;
  /** Stops a process that is still loading its model. */
  readonly signal: AbortSignal;
}

interface PendingCall {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: EngineError) => void;
}

/** One engine process, from its start to its end. */
export class EngineProcess {
  /** Resolves, never rejects, when the process has ended. */
  readonly exited: Promise<EngineExit>;
  /** Calls without an answer, including those whose callers have stopped waiting. */
  private readonly pending = new Map<number, PendingCall>();
  private nextId = 1;
  private abandoned = 0;
  private closing = false;
  private ended = false;
  private loaded = false;
  /** Why the process is being killed. */
  private hang: Hang | null = null;
  /** Resolves, never rejects, when the process's temporary files are gone. */
  private cleared = Promise.resolve();
  private readonly opened: Promise<void>;
  private settleOpened: { resolve: () => void; reject: (error: EngineError) => void } | undefined;

  private constructor(
    private readonly child: ChildProcess,
    private readonly watch: Watch,
    private readonly settings: Pick<ProcessSettings, 'purpose' | 'logger'>,
  ) {
    const { purpose, logger } = settings;
    this.opened = new Promise((resolve, reject) => {
      this.settleOpened = { resolve, reject };
    });
    this.exited = new Promise((resolve) => {
      const finish = (code: number | null, signal: NodeJS.Signals | null): void => {
        const exit = { pid: child.pid ?? -1, code, signal, purpose, reason: this.hang ?? 'exited' } as const;
        this.lose(exit);
        // A process killed while it makes a session leaves a copy of the weights, and the next session may be a long
        // time off.
        this.cleared = removeLeftConstants().catch(() => undefined);
        resolve(exit);
      };
      child.once('exit', finish);
      // A process that could not be started emits an error but no exit.
      child.on('error', () => {
        if (child.pid === undefined) finish(null, null);
      });
    });
    child.on('message', (message) => {
      if (isChildMessage(message)) this.receive(message);
    });
    if (child.stderr !== null) {
      createInterface(child.stderr).on('line', (line) =>
        logger?.warn({ pid: child.pid, line }, 'the engine process wrote to standard error'),
      );
    }
    this.watchOver();
  }

  /**
   * Resolves when the model is loaded. Rejects with `checkpoint_invalid`; with `process_lost` if the process ends or
   * hangs before that; with `cancelled` if the signal aborts.
   */
  static async start(options: EmbeddedEngineOptions, settings: ProcessSettings): Promise<EngineProcess> {
    const { purpose, logger, signal } = settings;
    const watch = new Watch(settings.watch, purpose);
    const variables = inheritedVariables.map((name) => [name, process.env[name]] as const);
    const child = fork(fileURLToPath(new URL('./child.js', import.meta.url)), [String(watch.intervalMs)], {
      serialization: 'advanced',
      execArgv: [...nodeArguments],
      env: { ...allocatorVariables, ...Object.fromEntries(variables.filter(([, value]) => value !== undefined)) },
      stdio: ['ignore', 'ignore', logger === undefined ? 'inherit' : 'pipe', 'ipc', 'pipe'],
    });
    const engineProcess = new EngineProcess(child, watch, settings);
    const stop = (): void => void engineProcess.stop();
    signal.addEventListener('abort', stop, { once: true });
    engineProcess.send({ kind: 'open', options, purpose });
    try {
      await engineProcess.opened;
    } catch (error) {
      await engineProcess.stop();
      throw error;
    } finally {
      signal.removeEventListener('abort', stop);
    }
    return engineProcess;
  }

  get pid(): number | undefined {
    return this.ended ? undefined : this.child.pid;
  }

  /** The number of calls that were rejected without an answer. The process may still have done their work. */
  get abandonedCalls(): number {
    return this.abandoned;
  }

  /** Whether the process gave a sign of life in the last seconds. */
  get responsive(): boolean {
    return !this.ended && this.watch.responsive;
  }

  /** Whether the process was told to end before it ended by itself. */
  get wasStopped(): boolean {
    return this.closing;
  }

  /**
   * Rejects with the engine's own errors; with `process_lost` if the process ends before its answer; with `cancelled`
   * at the next step after the signal aborts, or after two seconds without an answer.
   */
  call<M extends MethodName>(
    method: M,
    args: MethodArguments<M>,
    { signal }: CallOptions = {},
  ): Promise<MethodResult<M>> {
    if (signal?.aborted === true) return Promise.reject(cancelled());
    if (this.closing) return Promise.reject(engineClosed());
    if (this.ended) return Promise.reject(lost('it had ended before the call'));
    const id = this.nextId;
    this.nextId += 1;
    return new Promise<MethodResult<M>>((resolve, reject) => {
      let deadline: NodeJS.Timeout | undefined;
      const cancel = (): void => {
        this.send({ kind: 'cancel', id });
        // A later answer finds a settled promise.
        deadline = setTimeout(() => {
          this.abandoned += 1;
          reject(cancelled());
        }, cancelMs);
      };
      const settled = (): void => {
        this.pending.delete(id);
        clearTimeout(deadline);
        signal?.removeEventListener('abort', cancel);
      };
      this.pending.set(id, {
        resolve: (value) => {
          settled();
          // Both ends are of the same build, so each method is answered with its own result.
          resolve(value as MethodResult<M>);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
      });
      signal?.addEventListener('abort', cancel, { once: true });
      try {
        this.send({ kind: 'call', id, method, args } as HostMessage);
      } catch (error) {
        const reason = error instanceof Error ? error.message.slice(0, 200) : 'unknown';
        const message = `the call holds a value that cannot be sent to another process: ${reason}`;
        this.pending.get(id)?.reject(new EngineError('invalid_request', message, { cause: error }));
      }
    });
  }

  /**
   * Ends the process: politely first, by force after a grace period, or by force at once if it does not respond.
   * Pending calls reject with `cancelled`.
   */
  async stop(): Promise<void> {
    if (!this.ended) {
      this.closing = true;
      if (this.child.connected) this.child.disconnect();
      const force = setTimeout(() => this.child.kill('SIGKILL'), this.responsive ? graceMs : 0);
      await this.exited;
      clearTimeout(force);
    }
    await this.cleared;
  }

  private send(message: HostMessage): void {
    // A failure to send means that the process is ending. Its exit rejects all pending calls.
    if (this.child.connected) this.child.send(message, () => undefined);
  }

  private watchOver(): void {
    const heart = this.child.stdio[heartbeatDescriptor];
    if (heart instanceof Readable) {
      heart.setEncoding('latin1').on('data', (beats: string) => this.watch.hear(beats));
      // The pipe breaks when the process ends, which is noticed elsewhere.
      heart.on('error', () => undefined);
    }
    let tickedAt = performance.now();
    const timer = setInterval(() => {
      const now = performance.now();
      const work = this.pending.size > 0 ? 'calls' : 'none';
      this.watch.tick(now - tickedAt, this.loaded ? work : 'load');
      tickedAt = now;
      this.hang ??= this.watch.hang;
      // SIGKILL ends even a stopped process.
      if (this.hang !== null) this.child.kill('SIGKILL');
    }, this.watch.intervalMs);
    void this.exited.then(() => clearInterval(timer));
  }

  private receive(message: ChildMessage): void {
    switch (message.kind) {
      case 'ready':
        this.loaded = true;
        this.settleOpened?.resolve();
        break;
      case 'trouble':
        this.report(fromWireTrouble(message.trouble));
        break;
      case 'refused':
        this.settleOpened?.reject(fromWireError(message.error));
        break;
      case 'result':
        this.watch.answered();
        this.pending.get(message.id)?.resolve(message.value);
        break;
      case 'error':
        this.watch.answered();
        this.pending.get(message.id)?.reject(fromWireError(message.error));
        break;
    }
  }

  private report(trouble: Error): void {
    const { logger } = this.settings;
    if (logger === undefined) process.emitWarning(trouble);
    else logger.warn({ pid: this.child.pid, err: trouble }, 'the engine process is in trouble');
  }

  private lose({ code, signal }: EngineExit): void {
    this.ended = true;
    const end = signal === null ? `it ended with exit code ${code ?? 'unknown'}` : `it ended by ${signal}`;
    const how = this.hang === null ? end : hangDescriptions[this.hang];
    const error = this.closing ? engineClosed() : lost(how);
    this.settleOpened?.reject(error);
    for (const call of [...this.pending.values()]) call.reject(error);
  }
}

const hangDescriptions: Readonly<Record<Hang, string>> = {
  unresponsive: 'it gave no sign of life and was killed',
  stalled: 'it made no progress and was killed',
};

function lost(how: string): EngineError {
  return new EngineError('process_lost', `the engine process was lost: ${how}`);
}
