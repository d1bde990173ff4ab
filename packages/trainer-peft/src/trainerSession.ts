import {
  EngineError,
  type AdapterPrecision,
  type AdapterProbe,
  type AdapterReference,
  type CallOptions,
  type ModelFront,
  type PlainBatch,
  type RunBounds,
  type StepResult,
  type TrainingExample,
  type TrainingSession,
  type TrainingStart,
} from '@engraft/engine';
import {
  engineCodeOf,
  evaluationOf,
  readEvaluated,
  readRefusal,
  readStepped,
  stepOf,
  stepsOf,
  type Opened,
} from './http/wire.js';
import type { TrainerDescription } from './http/wire.js';
import type { Trainer } from './trainer.js';

export interface TrainerSessionOptions {
  readonly trainer: Trainer;
  readonly front: ModelFront;
  /** The matrices are left out, so that they are not kept. They are as large as the adapter, or larger. */
  readonly start: Omit<TrainingStart, 'state'>;
  /** The size of the first matrices, without the optimizer's moments. */
  readonly plainBytes: number;
  readonly opened: Opened;
  readonly description: TrainerDescription;
  /** Aborts when the host is closed. */
  readonly closing: AbortSignal;
  /** Called once, when the session is closed. */
  readonly onClose: () => void;
}

/** Renewals in the time of a lease. */
const renewalsPerLease = 4;
/** A smaller run is not worth a process of its own. */
const minRunTokens = 64;
const sideBytes = 2 ** 20;

/**
 * A training on a trainer. After an answer that is missing or cannot be right nobody knows the weights, so the session
 * is lost, and its calls reject with `process_lost`: the training goes on elsewhere from its last snapshot.
 *
 * A signal is looked at before each step. A step that is under way runs to its end.
 */
export class TrainerSession implements TrainingSession {
  private readonly stopped = new AbortController();
  private readonly cancel: AbortSignal;
  private readonly renewal: NodeJS.Timeout;
  private missedRenewals = 0;
  private lostBecause: string | null = null;
  private isClosed = false;
  private steps: number;

  constructor(private readonly options: TrainerSessionOptions) {
    this.cancel = AbortSignal.any([options.closing, this.stopped.signal]);
    this.steps = options.start.steps;
    const renewMs = (options.opened.lease_seconds * 1_000) / renewalsPerLease;
    this.renewal = setInterval(() => void this.renew(), renewMs).unref();
  }

  async step(
    batch: readonly TrainingExample[],
    learningRate: number,
    { signal }: CallOptions = {},
  ): Promise<StepResult> {
    this.requireOpen(signal);
    if (!Number.isFinite(learningRate) || learningRate < 0) {
      throw new EngineError('invalid_request', 'learningRate must be a number of at least 0');
    }
    const { runs, tokens } = await this.layOut(batch);
    const stepped = readStepped(await this.post('step', stepOf(runs, learningRate)));
    if (stepped === null) throw this.lose('it gave no result of a step');
    if (stepped.steps !== this.steps + 1) throw this.lose(`it made step ${stepped.steps} instead of ${this.steps + 1}`);
    this.steps = stepped.steps;
    return { loss: stepped.loss, tokens, gradientNorm: stepped.gradient_norm };
  }

  async evaluate(batch: readonly TrainingExample[], { signal }: CallOptions = {}): Promise<StepResult> {
    this.requireOpen(signal);
    const { runs, tokens } = await this.layOut(batch);
    return { loss: await this.lossOf(runs), tokens, gradientNorm: 0 };
  }

  async save(folder: string, precision?: AdapterPrecision): Promise<AdapterReference & { readonly sizeBytes: number }> {
    this.requireOpen();
    const { front, start } = this.options;
    const { adapterConfig } = start;
    const probe = await this.probe();
    const state = await this.get('state');
    return this.unlessWrong(front.saveTraining({ folder, precision }, { adapterConfig, state, probe }));
  }

  async snapshot(folder: string): Promise<void> {
    this.requireOpen();
    const { front, start } = this.options;
    const { adapterConfig, optimizer, protectedHash } = start;
    const reached = { state: await this.get('moments'), steps: this.steps };
    await this.unlessWrong(front.snapshotTraining(folder, { adapterConfig, optimizer, protectedHash }, reached));
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    clearInterval(this.renewal);
    this.stopped.abort();
    await this.free();
    this.options.onClose();
  }

  /** Where the trainer does not hear of it, the lease ends by itself. */
  private async free(): Promise<void> {
    await this.options.trainer.ask(
      { method: 'DELETE', path: this.path() },
      { quick: true },
      new AbortController().signal,
    );
  }

  private async layOut(batch: readonly TrainingExample[]): Promise<PlainBatch> {
    const { max_run_tokens: most, max_run_logits: maxRunLogits, processes } = this.options.description;
    const tokens = batch.reduce((sum, { sequence }) => sum + sequence.tokens.length, 0);
    // Every process gets a run.
    const share = Math.max(minRunTokens, Math.ceil(tokens / processes));
    const bounds: RunBounds = { maxRunTokens: Math.min(most, share), maxRunLogits };
    return this.options.front.layOutBatch(batch, bounds);
  }

  private async lossOf(runs: PlainBatch['runs']): Promise<number> {
    const evaluated = readEvaluated(await this.post('evaluate', evaluationOf(runs)));
    if (evaluated === null) throw this.lose('it gave no loss');
    return evaluated.loss;
  }

  /** The losses under the present weights of the sequences by which these will be known. */
  private async probe(): Promise<AdapterProbe> {
    const sequences = await this.options.front.probeSequences();
    const losses: number[] = [];
    for (const sequence of sequences) {
      const { runs } = await this.layOut([{ sequence, weight: 1 }]);
      losses.push(await this.lossOf(runs));
    }
    return { sequences: sequences.map(({ tokens }) => tokens), losses };
  }

  private async get(what: 'state' | 'moments'): Promise<Uint8Array> {
    // With moments there are three numbers for each one of the adapter.
    const maxBytes = 3 * this.options.plainBytes + sideBytes;
    const state = await this.call({ method: 'GET', path: this.path(what) }, maxBytes);
    const steps = stepsOf(state);
    if (steps !== this.steps) throw this.lose(`it gave the weights of step ${steps} instead of ${this.steps}`);
    return state;
  }

  private post(what: 'step' | 'evaluate', body: Uint8Array): Promise<Uint8Array> {
    return this.call({ method: 'POST', path: this.path(what), body });
  }

  private async call(
    call: { readonly method: 'GET' | 'POST'; readonly path: string; readonly body?: Uint8Array },
    maxBytes = sideBytes,
  ): Promise<Uint8Array> {
    const answer = await this.options.trainer.ask(call, { maxBytes }, this.cancel);
    if (this.isClosed || this.options.closing.aborted) throw new EngineError('cancelled', 'the call was cancelled');
    if (this.lostBecause !== null) throw this.lose(this.lostBecause);
    if (answer.kind === 'failed') throw this.lose(answer.reason);
    if (answer.status === 200) return answer.body;
    const refusal = readRefusal(answer.body);
    if (refusal === null) throw this.lose(`it answered with status ${answer.status}`);
    const code = engineCodeOf(refusal);
    if (code === 'process_lost' || code === 'not_running') throw this.lose(refusal.message);
    throw new EngineError(code, `the trainer ${this.options.trainer.url}: ${refusal.message}`);
  }

  /** A state that does not fit was not trained here. A full disk is no fault of the trainer. */
  private async unlessWrong<Result>(writing: Promise<Result>): Promise<Result> {
    try {
      return await writing;
    } catch (error) {
      if (error instanceof EngineError && error.code === 'adapter_invalid') throw this.lose(error.message);
      throw error;
    }
  }

  private async renew(): Promise<void> {
    const { trainer } = this.options;
    const answer = await trainer.ask({ method: 'POST', path: this.path('renew') }, { quick: true }, this.cancel);
    if (this.isClosed || this.lostBecause !== null) return;
    if (answer.kind === 'response' && answer.status === 200) {
      this.missedRenewals = 0;
      return;
    }
    this.missedRenewals += 1;
    const isForgotten = answer.kind === 'response' && readRefusal(answer.body)?.code === 'session_lost';
    if (!isForgotten && this.missedRenewals < trainer.limits.maxMissedRenewals) return;
    this.lose(isForgotten ? 'its lease has run out' : 'it gave no sign of life');
    // Ends a call that may never be answered.
    this.stopped.abort();
  }

  private lose(reason: string): EngineError {
    if (this.lostBecause === null) {
      this.lostBecause = reason;
      clearInterval(this.renewal);
      void this.free();
    }
    return new EngineError('process_lost', `the training on ${this.options.trainer.url} is lost: ${this.lostBecause}`);
  }

  private requireOpen(signal?: AbortSignal): void {
    if (this.options.closing.aborted || signal?.aborted === true) {
      throw new EngineError('cancelled', 'the call was cancelled');
    }
    if (this.lostBecause !== null) throw this.lose(this.lostBecause);
    if (this.isClosed) throw new EngineError('invalid_request', 'the training session is closed');
  }

  private path(what?: string): string {
    return `/sessions/${this.options.opened.id}${what === undefined ? '' : `/${what}`}`;
  }
}
