import { setTimeout as sleep } from 'node:timers/promises';
import { EngineError, type CallOptions, type EncodeOptions, type TrainingSession } from '../engine.js';
import { engineClosed, unlessCancelled } from '../support/cancelling.js';
import type {
  ChatPrompt,
  GenerateRequest,
  GenerateResult,
  ModelDescription,
  ResumeOptions,
  ScoreRequest,
  SequenceScore,
  TokenSequence,
  TrainingOptions,
} from '../types.js';
import { EngineProcess } from './engineProcess.js';
import type { EngineExit, EngineHost, EngineHostOptions, EngineStart, TrainingHost } from './hostTypes.js';
import type { EnginePurpose, MethodArguments, MethodName, MethodResult } from './protocol.js';
import { defaultBounds } from './watch.js';

/** A process that lived this long did not crash at start-up. The next failure counts as the first again. */
const stableMs = 30_000;
const firstDelayMs = 250;
const maxDelayMs = 30_000;

/**
 * Starts an engine process and resolves when its model is loaded.
 *
 * When the process dies, or hangs and is killed (see `Watch`), running calls reject with `process_lost`. A new process
 * is started, and later calls wait for it. It starts at once after the first death, and after growing delays when
 * deaths follow each other quickly. A call rejects with `not_running` if the process it waited for cannot be started.
 *
 * Every training session has a process of its own from `openTraining` to `close`, with lower priority and its own
 * model. A training step blocks its thread for longer than a short answer takes, so the operating system divides the
 * cores, which it can do in the middle of a step. When that process dies, the session is lost. If it cannot be started,
 * `openTraining` rejects with `not_running`.
 *
 * All processes end by themselves when this one dies.
 * @throws EngineError `checkpoint_invalid`; `process_lost` when the process dies while loading.
 */
export async function startEngineHost(options: EngineHostOptions): Promise<EngineHost> {
  const host = new ProcessHost(options);
  await host.start();
  return host;
}

/** A host for training alone, where another engine serves. No process is started before a session is opened. */
export function openTrainingHost(options: EngineHostOptions): TrainingHost {
  return new ProcessHost(options);
}

class ProcessHost implements EngineHost {
  private current: EngineProcess | undefined;
  private starting: Promise<EngineProcess> | undefined;
  private readonly exitListeners = new Set<(exit: EngineExit) => void>();
  private readonly startListeners = new Set<(start: EngineStart) => void>();
  private readonly trainings = new Set<EngineProcess>();
  /** Processes of training sessions that are still loading their model. */
  private readonly trainingStarts = new Set<Promise<EngineProcess>>();
  private readonly closing = new AbortController();
  /** Deaths in quick succession. */
  private deaths = 0;

  constructor(private readonly options: EngineHostOptions) {}

  get pid(): number | undefined {
    return this.current?.pid;
  }

  get responsive(): boolean {
    return this.current?.responsive ?? false;
  }

  get trouble(): string | null {
    if (this.pid === undefined) return 'restarting';
    return this.responsive ? null : 'not responding';
  }

  get trainingPids(): readonly number[] {
    return [...this.trainings].map(({ pid }) => pid).filter((pid) => pid !== undefined);
  }

  onExit(listener: (exit: EngineExit) => void): () => void {
    this.exitListeners.add(listener);
    return () => this.exitListeners.delete(listener);
  }

  onStart(listener: (start: EngineStart) => void): () => void {
    this.startListeners.add(listener);
    return () => this.startListeners.delete(listener);
  }

  async start(): Promise<void> {
    await this.running();
  }

  describe(): Promise<ModelDescription> {
    return this.call('describe', []);
  }

  countTokens(prompt: ChatPrompt): Promise<number> {
    return this.call('countTokens', [prompt]);
  }

  encode(prompt: ChatPrompt, completion: string, options?: EncodeOptions): Promise<TokenSequence> {
    return this.call('encode', [prompt, completion, options]);
  }

  generate(request: GenerateRequest, options?: CallOptions): Promise<GenerateResult> {
    return this.call('generate', [request], options);
  }

  score(request: ScoreRequest, options?: CallOptions): Promise<readonly SequenceScore[]> {
    return this.call('score', [request], options);
  }

  forgetPrefixes(isolationKey: string): Promise<void> {
    return this.call('forgetPrefixes', [isolationKey]);
  }

  async openTraining(options: TrainingOptions | ResumeOptions): Promise<TrainingSession> {
    const starting = this.startTraining();
    this.trainingStarts.add(starting);
    const engineProcess = await starting.finally(() => this.trainingStarts.delete(starting));
    try {
      return this.remoteSession(engineProcess, await engineProcess.call('openTraining', [options]));
    } catch (error) {
      await this.stopTraining(engineProcess);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.closing.abort();
    const engineProcess = this.current ?? (await this.starting?.catch(() => undefined));
    const processes = [...(engineProcess === undefined ? [] : [engineProcess]), ...this.trainings];
    await Promise.all(processes.map((each) => each.stop()));
    await Promise.allSettled([...this.trainingStarts]);
  }

  private async call<M extends MethodName>(
    method: M,
    args: MethodArguments<M>,
    options: CallOptions = {},
  ): Promise<MethodResult<M>> {
    // Starting a process can take a while.
    const engineProcess = await unlessCancelled(this.running().catch(notRunning), options);
    return engineProcess.call(method, args, options);
  }

  /** The present process, or the next one. */
  private async running(): Promise<EngineProcess> {
    this.checkOpen();
    if (this.current !== undefined) return this.current;
    this.starting ??= this.startProcess().finally(() => {
      this.starting = undefined;
    });
    return this.starting;
  }

  private async startProcess(): Promise<EngineProcess> {
    await this.backOff();
    const startedAt = performance.now();
    let engineProcess: EngineProcess;
    try {
      engineProcess = await this.load('serving');
    } catch (error) {
      this.deaths += 1;
      throw error;
    }
    this.current = engineProcess;
    void engineProcess.exited.then((exit) => {
      this.current = undefined;
      if (this.closing.signal.aborted) return;
      const livedMs = performance.now() - startedAt;
      this.deaths = livedMs < stableMs ? this.deaths + 1 : 1;
      this.reportLoss(exit);
      void this.startAgain();
    });
    return engineProcess;
  }

  /** Restarts without waiting for a call, because nobody calls a service that reports itself as not ready. */
  private async startAgain(): Promise<void> {
    for (;;) {
      try {
        await this.running();
        return;
      } catch (error) {
        if (this.closing.signal.aborted) return;
        this.options.logger?.warn({ err: error }, 'the engine could not be started again');
      }
    }
  }

  private async startTraining(): Promise<EngineProcess> {
    this.checkOpen();
    // A job scores right before it trains, and the training's process reads weights of its own. A serving process that
    // is lost here has none any more.
    await this.current?.call('forgetUnusedWeights', []).catch(() => undefined);
    const engineProcess = await this.load('training').catch(notRunning);
    this.trainings.add(engineProcess);
    void engineProcess.exited.then((exit) => {
      this.trainings.delete(engineProcess);
      if (!engineProcess.wasStopped && !this.closing.signal.aborted) this.reportLoss(exit);
    });
    if (this.closing.signal.aborted) await this.stopTraining(engineProcess);
    this.checkOpen();
    return engineProcess;
  }

  private remoteSession(engineProcess: EngineProcess, id: number): TrainingSession {
    let closed = false;
    // An abandoned step may or may not have changed the weights, so they must not be used.
    let unsure = false;
    const call: EngineProcess['call'] = async (...message) => {
      if (closed) throw new EngineError('invalid_request', 'the training session is closed');
      if (unsure) throw new EngineError('invalid_request', unsureMessage);
      return engineProcess.call(...message);
    };
    return {
      step: async (batch, learningRate, options) => {
        const before = engineProcess.abandonedCalls;
        return call('trainingStep', [id, batch, learningRate], options).finally(() => {
          unsure ||= engineProcess.abandonedCalls > before;
        });
      },
      evaluate: (batch, options) => call('trainingEvaluate', [id, batch], options),
      save: (folder, precision) => call('trainingSave', [id, folder, precision]),
      snapshot: (folder) => call('trainingSnapshot', [id, folder]),
      // The session ends with its process.
      close: () => {
        closed = true;
        return this.stopTraining(engineProcess);
      },
    };
  }

  private async stopTraining(engineProcess: EngineProcess): Promise<void> {
    this.trainings.delete(engineProcess);
    await engineProcess.stop();
  }

  private async load(purpose: EnginePurpose): Promise<EngineProcess> {
    const { logger, watch, ...options } = this.options;
    const startedAt = performance.now();
    const engineProcess = await EngineProcess.start(options, {
      purpose,
      watch: { ...defaultBounds, ...watch },
      logger,
      signal: this.closing.signal,
    });
    const loadMs = Math.round(performance.now() - startedAt);
    const { pid } = engineProcess;
    logger?.info({ pid, purpose, loadMs }, 'engine started');
    if (pid !== undefined) for (const listener of this.startListeners) listener({ pid, purpose });
    return engineProcess;
  }

  private checkOpen(): void {
    if (this.closing.signal.aborted) throw engineClosed();
  }

  private reportLoss(exit: EngineExit): void {
    const what = exit.reason === 'exited' ? 'engine process ended unexpectedly' : 'engine process hung and was killed';
    this.options.logger?.warn({ ...exit }, what);
    for (const listener of this.exitListeners) listener(exit);
  }

  private async backOff(): Promise<void> {
    if (this.deaths < 2) return;
    const delay = Math.min(maxDelayMs, firstDelayMs * 2 ** (this.deaths - 2));
    try {
      await sleep(delay, undefined, { signal: this.closing.signal });
    } catch {
      throw engineClosed();
    }
  }
}

const unsureMessage =
  'a step of the training session had no answer, so its weights are not known: close it and open another';

/** The reason why a process cannot start has nothing to do with the call that waited for it. */
function notRunning(error: unknown): never {
  if (error instanceof EngineError && error.code === 'cancelled') throw error;
  const reason = error instanceof EngineError ? `: ${error.message}` : '';
  throw new EngineError('not_running', `the engine's process could not be started${reason}`, { cause: error });
}
