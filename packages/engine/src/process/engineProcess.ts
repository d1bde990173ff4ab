import { fork, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { EmbeddedEngineOptions } from '../embeddedEngine.js';
import { EngineError, type CallOptions } from '../engine.js';
import { removeLeftConstants } from '../generation/constantFolder.js';
import { HEARTBEAT_DESCRIPTOR } from './heartbeat.js';
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
import { ALLOCATOR_VARIABLES, NODE_ARGUMENTS } from './processSettings.js';
import { Watch, type Hang, type WatchBounds } from './watch.js';

/** Between the polite signal and the one that cannot be refused; a run under way ends within it or is cut off. */
const GRACE_MS = 3_000;

/** An aborted call is answered at the next step. Its caller waits this long for it, and then does without. */
const CANCEL_MS = 2_000;

/** The engine needs no secrets of the service, so it inherits only what a process needs to run. */
const INHERITED_VARIABLES = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'LC_ALL', 'TZ', 'LD_LIBRARY_PATH', 'NODE_V8_COVERAGE'];

export interface ProcessSettings {
  readonly purpose: EnginePurpose;
  readonly watch: WatchBounds;
  /** Told what the process has to say; without one that goes to standard error. */
  readonly logger: EngineLogger | undefined;
  /** Ends a process that is still loading its model. */
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
  /** Calls without an answer, also those whose callers wait no longer. */
  private readonly pending = new Map<number, PendingCall>();
  private nextId = 1;
  private abandoned = 0;
  private closing = false;
  private ended = false;
  private loaded = false;
  /** What it is killed for. */
  private hang: Hang | null = null;
  /** Resolves, never rejects, when nothing is left of what it was writing. */
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
        // One that is killed while it makes a session leaves a copy of the weights, and nobody may make another for
        // long.
        this.cleared = removeLeftConstants().catch(() => undefined);
        resolve(exit);
      };
      child.once('exit', finish);
      // A process that could not be started has an error and no exit.
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
   * Resolves when the model is loaded; rejects with `checkpoint_invalid`, with `process_lost` if the process ends or
   * hangs before that, or with `cancelled` if the signal aborts.
   */
  static async start(options: EmbeddedEngineOptions, settings: ProcessSettings): Promise<EngineProcess> {
    const { purpose, logger, signal } = settings;
    const watch = new Watch(settings.watch, purpose);
    const variables = INHERITED_VARIABLES.map((name) => [name, process.env[name]] as const);
    const child = fork(fileURLToPath(new URL('./child.js', import.meta.url)), [String(watch.intervalMs)], {
      serialization: 'advanced',
      execArgv: [...NODE_ARGUMENTS],
      env: { ...ALLOCATOR_VARIABLES, ...Object.fromEntries(variables.filter(([, value]) => value !== undefined)) },
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

  /** How many calls were rejected without an answer of the process, which may have done their work all the same. */
  get abandonedCalls(): number {
    return this.abandoned;
  }

  /** Whether the process gave a sign of life in the last seconds. */
  get responsive(): boolean {
    return !this.ended && this.watch.responsive;
  }

  /** Whether the process was to end, and did not end of itself before. */
  get wasStopped(): boolean {
    return this.closing;
  }

  /**
   * Rejects with the engine's own errors; `process_lost` if the process ends before its answer; `cancelled` at the next
   * step after the signal aborts, or after two seconds if there is no answer until then.
   */
  call<M extends MethodName>(
    method: M,
    args: MethodArguments<M>,
    { signal }: CallOptions = {},
  ): Promise<MethodResult<M>> {
    if (signal?.aborted === true) return Promise.reject(cancelled());
    if (this.closing) return Promise.reject(closed());
    if (this.ended) return Promise.reject(lost('it had ended before the call'));
    const id = this.nextId;
    this.nextId += 1;
    return new Promise<MethodResult<M>>((resolve, reject) => {
      let deadline: NodeJS.Timeout | undefined;
      const cancel = (): void => {
        this.send({ kind: 'cancel', id });
        // An answer that comes later finds a promise that is settled.
        deadline = setTimeout(() => {
          this.abandoned += 1;
          reject(cancelled());
        }, CANCEL_MS);
      };
      const settled = (): void => {
        this.pending.delete(id);
        clearTimeout(deadline);
        signal?.removeEventListener('abort', cancel);
      };
      this.pending.set(id, {
        resolve: (value) => {
          settled();
          // The other end is of the same build and answers each method with its result.
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
        const refusal = new EngineError('invalid_request', 'the call holds what cannot be sent', { cause: error });
        this.pending.get(id)?.reject(refusal);
      }
    });
  }

  /**
   * Ends the process: politely first, by force after a grace period, or at once if it does not respond. Pending calls
   * reject with `cancelled`.
   */
  async stop(): Promise<void> {
    if (!this.ended) {
      this.closing = true;
      if (this.child.connected) this.child.disconnect();
      const force = setTimeout(() => this.child.kill('SIGKILL'), this.responsive ? GRACE_MS : 0);
      await this.exited;
      clearTimeout(force);
    }
    await this.cleared;
  }

  private send(message: HostMessage): void {
    // A failure to send means that the process is ending; its exit rejects whatever waits.
    if (this.child.connected) this.child.send(message, () => undefined);
  }

  private watchOver(): void {
    const heart = this.child.stdio[HEARTBEAT_DESCRIPTOR];
    if (heart instanceof Readable) {
      heart.setEncoding('latin1').on('data', (beats: string) => this.watch.hear(beats));
      // It breaks when the process ends, which is seen otherwise.
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
    const how = this.hang === null ? end : HANGS[this.hang];
    const error = this.closing ? closed() : lost(how);
    this.settleOpened?.reject(error);
    for (const call of [...this.pending.values()]) call.reject(error);
  }
}

const HANGS: Readonly<Record<Hang, string>> = {
  unresponsive: 'it gave no sign of life and was killed',
  stalled: 'it got nowhere and was killed',
};

function cancelled(): EngineError {
  return new EngineError('cancelled', 'the call was cancelled');
}

function closed(): EngineError {
  return new EngineError('cancelled', 'the engine was closed');
}

function lost(how: string): EngineError {
  return new EngineError('process_lost', `the engine process was lost: ${how}`);
}
