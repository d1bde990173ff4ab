import { setTimeout as sleep } from 'node:timers/promises';
import { EngineError, type CallOptions, type TrainingSession } from '../engine.js';
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
import type { EngineExit, EngineHost, EngineHostOptions } from './hostTypes.js';
import type { MethodArguments, MethodName, MethodResult } from './protocol.js';

/** A process that lived this long was no crash at start-up; the next failure counts as the first again. */
const STABLE_MS = 30_000;
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 30_000;

/**
 * Starts an engine process and resolves when its model is loaded.
 *
 * When the process dies, calls under way and its training sessions reject with `process_lost`, and the next call
 * starts a new process: at once after the first death, with growing delays when deaths follow each other quickly.
 * The process ends by itself when this one dies.
 * @throws EngineError `checkpoint_invalid`; `process_lost` when the process dies while loading.
 */
export async function startEngineHost(options: EngineHostOptions): Promise<EngineHost> {
  const host = new ProcessHost(options);
  await host.start();
  return host;
}

class ProcessHost implements EngineHost {
  private current: EngineProcess | undefined;
  private starting: Promise<EngineProcess> | undefined;
  private readonly exitListeners = new Set<(exit: EngineExit) => void>();
  private readonly closing = new AbortController();
  /** Deaths in quick succession. */
  private deaths = 0;

  constructor(private readonly options: EngineHostOptions) {}

  get pid(): number | undefined {
    return this.current?.pid;
  }

  onExit(listener: (exit: EngineExit) => void): () => void {
    this.exitListeners.add(listener);
    return () => this.exitListeners.delete(listener);
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

  encode(prompt: ChatPrompt, completion: string): Promise<TokenSequence> {
    return this.call('encode', [prompt, completion]);
  }

  generate(request: GenerateRequest, options?: CallOptions): Promise<GenerateResult> {
    return this.call('generate', [request], options);
  }

  score(request: ScoreRequest, options?: CallOptions): Promise<readonly SequenceScore[]> {
    return this.call('score', [request], options);
  }

  async openTraining(options: TrainingOptions | ResumeOptions): Promise<TrainingSession> {
    const engineProcess = await this.running();
    const id = await engineProcess.call('openTraining', [options]);
    return {
      step: (batch, learningRate, callOptions) =>
        engineProcess.call('trainingStep', [id, batch, learningRate], callOptions),
      evaluate: (batch, callOptions) => engineProcess.call('trainingEvaluate', [id, batch], callOptions),
      save: (folder) => engineProcess.call('trainingSave', [id, folder]),
      snapshot: (folder) => engineProcess.call('trainingSnapshot', [id, folder]),
      // With its process the session has ended already.
      close: async () => (engineProcess.alive ? engineProcess.call('trainingClose', [id]) : undefined),
    };
  }

  async close(): Promise<void> {
    this.closing.abort();
    const engineProcess = this.current ?? (await this.starting?.catch(() => undefined));
    await engineProcess?.stop();
  }

  private async call<M extends MethodName>(
    method: M,
    args: MethodArguments<M>,
    options: CallOptions = {},
  ): Promise<MethodResult<M>> {
    const engineProcess = await unlessAborted(this.running(), options);
    return engineProcess.call(method, args, options);
  }

  /** The present process, or the next one. */
  private async running(): Promise<EngineProcess> {
    if (this.closing.signal.aborted) throw new EngineError('cancelled', 'the engine was closed');
    if (this.current !== undefined) return this.current;
    this.starting ??= this.startProcess().finally(() => {
      this.starting = undefined;
    });
    return this.starting;
  }

  private async startProcess(): Promise<EngineProcess> {
    await this.backOff();
    const { logger, ...options } = this.options;
    const startedAt = performance.now();
    let engineProcess: EngineProcess;
    try {
      engineProcess = await EngineProcess.start(options);
    } catch (error) {
      this.deaths += 1;
      throw error;
    }
    logger?.info({ pid: engineProcess.pid, loadMs: Math.round(performance.now() - startedAt) }, 'engine started');
    this.current = engineProcess;
    void engineProcess.exited.then((exit) => this.onProcessEnd(exit, performance.now() - startedAt));
    return engineProcess;
  }

  private onProcessEnd(exit: EngineExit, livedMs: number): void {
    this.current = undefined;
    if (this.closing.signal.aborted) return;
    this.deaths = livedMs < STABLE_MS ? this.deaths + 1 : 1;
    this.options.logger?.warn({ ...exit, livedMs: Math.round(livedMs) }, 'engine process ended unexpectedly');
    for (const listener of this.exitListeners) listener(exit);
  }

  private async backOff(): Promise<void> {
    if (this.deaths < 2) return;
    const delay = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (this.deaths - 2));
    try {
      await sleep(delay, undefined, { signal: this.closing.signal });
    } catch {
      throw new EngineError('cancelled', 'the engine was closed');
    }
  }
}

/** `promise`, or a rejection as soon as the signal aborts: starting a process can take a while. */
function unlessAborted<T>(promise: Promise<T>, { signal }: CallOptions): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new EngineError('cancelled', 'the call was cancelled'));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
