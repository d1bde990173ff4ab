import { setTimeout as sleep } from 'node:timers/promises';
import { EngineError, type AdapterReference, type EngineLogger } from '@engraft/engine';
import type { AdapterShelf, ShelvedAdapter } from '../adapters/adapterShelf.js';
import { ReplicaAdapters, ReplicaAway, type LoadOutcome } from '../adapters/replicaAdapters.js';
import { scoringOf, type Completion } from '../completions/completionBody.js';
import { readReceipt, type Answered, type Receipt } from '../completions/readReceipt.js';
import { lossOf } from '../completions/scores.js';
import { exchange, type Exchange, type ExchangeLimits } from '../http/exchange.js';
import { identify, type Identified, type Identity } from './identity.js';
import { isAboutModel, mayPass, readModels, readReason } from './wire.js';

export interface ReplicaLimits extends ExchangeLimits {
  /** How often its health is asked for. */
  readonly healthMs: number;
  /** How long that may take. */
  readonly healthAnswerMs: number;
  /** A server that does not answer so often in a row is given up, with all that it runs. */
  readonly maxMissedHealths: number;
  /** The most adapters that it has under a name. */
  readonly maxNames: number;
}

export interface ReplicaOptions {
  readonly url: string;
  readonly shelf: AdapterShelf;
  readonly identity: Identity;
  readonly limits: ReplicaLimits;
  readonly logger?: EngineLogger;
}

/** Nothing was executed, so another replica may be asked. */
export interface NotExecuted {
  readonly kind: 'not_executed';
  readonly reason: string;
}

/** One vLLM server. It is asked only while it is healthy and known to have the right model. */
export class Replica {
  /** The requests under way. */
  underWay = 0;
  private state: Identified = { kind: 'away', reason: 'it was not asked yet' };
  private missedHealths = 0;
  /** Aborts when the server is given up. */
  private life = new AbortController();
  private readonly closing = new AbortController();
  private readonly adapters: ReplicaAdapters;
  private watching: Promise<void> = Promise.resolve();

  constructor(private readonly options: ReplicaOptions) {
    const server = {
      list: () => this.list(),
      load: (adapter: ShelvedAdapter) => this.load(adapter),
      unload: (name: string) => this.unload(name),
      losses: (name: string | null, sequences: readonly (readonly number[])[]) => this.losses(name, sequences),
    };
    this.adapters = new ReplicaAdapters(server, options.shelf, options.identity, options.limits.maxNames);
  }

  get url(): string {
    return this.options.url;
  }

  get isUp(): boolean {
    return this.state.kind === 'fits';
  }

  /** Its fault, and whether waiting may help; `null` while it is up. */
  get trouble(): Exclude<Identified, { kind: 'fits' }> | null {
    return this.state.kind === 'fits' ? null : this.state;
  }

  /** Looks at the server once, and then again and again until `close`. */
  async start(): Promise<void> {
    await this.look();
    this.watching = this.watch();
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.watching;
  }

  /**
   * @throws EngineError about the adapter; `cancelled`; `receipt_missing` or `receipt_inconsistent` where the server
   *   may have executed the request.
   */
  async complete(
    completion: Completion,
    adapter: AdapterReference | null,
    signal: AbortSignal,
  ): Promise<Answered | NotExecuted> {
    this.underWay += 1;
    try {
      for (let attempt = 1; ; attempt += 1) {
        const outcome = await this.completeOnce(completion, adapter, signal);
        // Another process has unloaded the adapter. Nothing was executed.
        if (outcome !== 'unloaded') return outcome;
        if (attempt === 3) return { kind: 'not_executed', reason: `${this.url} unloads an adapter again and again` };
      }
    } catch (error) {
      if (!(error instanceof ReplicaAway)) throw error;
      // Whoever finds it away waits. One that stayed up would be asked again at once.
      return this.isUp ? this.suspend(error.message) : this.notExecuted(error.message);
    } finally {
      this.underWay -= 1;
    }
  }

  /** The names of the adapters that it lists; `null` if it cannot be asked. */
  async listNames(): Promise<readonly string[] | null> {
    return this.list().then(
      (listed) => [...listed.keys()],
      () => null,
    );
  }

  private async completeOnce(
    completion: Completion,
    adapter: AdapterReference | null,
    signal: AbortSignal,
  ): Promise<Answered | NotExecuted | 'unloaded'> {
    const held = adapter === null ? null : await this.adapters.hold(adapter, signal);
    try {
      const model = held?.name ?? this.servedName;
      const answer = await this.post('/v1/completions', { ...completion.body, model }, signal);
      if (answer.kind === 'response' && answer.status === 404 && held !== null && isAboutModel(answer.body)) {
        this.adapters.forget(held.name);
        return 'unloaded';
      }
      return this.outcomeOf(answer, completion);
    } finally {
      held?.release();
    }
  }

  private outcomeOf(answer: Exchange, completion: Completion): Answered | NotExecuted {
    const { url } = this;
    if (answer.kind === 'cancelled') throw new EngineError('cancelled', 'the call was cancelled');
    if (answer.kind === 'not_sent') return this.suspend(answer.reason);
    if (answer.kind === 'broken') {
      throw new EngineError('receipt_missing', `${url} was asked and did not answer to the end: ${answer.reason}`);
    }
    const { status, body } = answer;
    if (status === 200) {
      const receipt = readReceipt(body, completion);
      if (receipt.kind === 'answered') return receipt;
      throw new EngineError(receipt.kind, `${url}: ${receipt.reason}`);
    }
    if (status === 503) return this.suspend('it has no room');
    const reason = `${url} answered with status ${status}: ${readReason(body)}`;
    if (status >= 400 && status <= 499 && status !== 408) throw new EngineError('internal', reason);
    throw new EngineError('receipt_missing', reason);
  }

  private get servedName(): string {
    if (this.state.kind !== 'fits') throw new ReplicaAway(this.state.reason);
    return this.state.servedName;
  }

  private async watch(): Promise<void> {
    const { signal } = this.closing;
    for (;;) {
      const stopped = await sleep(this.options.limits.healthMs, false, { signal, ref: false }).catch(() => true);
      if (stopped) return;
      await this.look();
    }
  }

  private async look(): Promise<void> {
    const { limits } = this.options;
    const quick = { ...limits, connectMs: limits.healthAnswerMs, response_ms: limits.healthAnswerMs };
    const call = { method: 'GET', url: `${this.url}/health` } as const;
    const health = await exchange(call, quick, { cancel: this.closing.signal });
    if (health.kind === 'cancelled') return;
    if (health.kind === 'response' && health.status === 200) {
      this.missedHealths = 0;
      if (this.isUp) return;
      const server = {
        get: (path: string) => this.ask({ method: 'GET', path }),
        post: (path: string, body: unknown) => this.post(path, body, this.closing.signal),
        score: (model: string, tokens: readonly number[]) => this.score(model, tokens),
      };
      this.enter(await identify(server, this.options.identity));
      return;
    }
    this.missedHealths += 1;
    const reason = health.kind === 'response' ? `its health is ${health.status}` : health.reason;
    if (health.kind !== 'not_sent' && this.missedHealths < limits.maxMissedHealths) return;
    this.suspend(reason);
    // Whatever it runs is lost.
    this.life.abort();
  }

  /** It gets no requests until it is healthy and known again. */
  private suspend(reason: string): NotExecuted {
    this.enter({ kind: 'away', reason });
    return this.notExecuted(reason);
  }

  private notExecuted(reason: string): NotExecuted {
    return { kind: 'not_executed', reason: `${this.url}: ${reason}` };
  }

  private enter(state: Identified): void {
    const before = this.state;
    this.state = state;
    if (state.kind === 'fits') {
      if (this.life.signal.aborted) this.life = new AbortController();
      // It may have been started anew, without adapters.
      this.adapters.forget();
      this.options.logger?.info({ url: this.url, model: state.servedName }, 'a vLLM server is ready');
      return;
    }
    if (before.kind === state.kind && before.reason === state.reason) return;
    this.options.logger?.warn({ url: this.url, ...state }, 'a vLLM server is not used');
  }

  private async list(): Promise<ReadonlyMap<string, string>> {
    const answer = await this.ask({ method: 'GET', path: '/v1/models' });
    const models = answer.kind === 'response' && answer.status === 200 ? readModels(answer.body) : null;
    if (models === null) throw new ReplicaAway('it does not list its models');
    return models.adapters;
  }

  /** `load_inplace` is never used: it would stay on the request, and files would be read again for each. */
  private async load({ name, folder }: ShelvedAdapter): Promise<LoadOutcome> {
    const answer = await this.post('/v1/load_lora_adapter', { lora_name: name, lora_path: folder });
    if (answer.kind !== 'response') throw new ReplicaAway('it did not load an adapter to the end');
    if (answer.status === 200) return { kind: 'loaded' };
    if (answer.status === 404) return { kind: 'not_found' };
    // Another process has just loaded it, from the same folder.
    if (answer.status === 400 && (await this.list()).get(name) === folder) return { kind: 'loaded' };
    if (mayPass(answer.status)) throw new ReplicaAway(`it loads no adapters now: status ${answer.status}`);
    return { kind: 'refused', reason: readReason(answer.body) };
  }

  private async unload(name: string): Promise<void> {
    const answer = await this.post('/v1/unload_lora_adapter', { lora_name: name });
    if (answer.kind === 'response' && [200, 404].includes(answer.status)) return;
    throw new ReplicaAway('it did not unload an adapter');
  }

  private async losses(name: string | null, sequences: readonly (readonly number[])[]): Promise<readonly number[]> {
    const losses: number[] = [];
    for (const tokens of sequences) {
      const receipt = await this.score(name ?? this.servedName, tokens);
      // An answer without numbers says nothing about the adapter.
      if (receipt.kind !== 'answered') throw new ReplicaAway(receipt.reason);
      losses.push(lossOf(tokens, receipt.promptTokens ?? []) ?? NaN);
    }
    return losses;
  }

  private async score(
    model: string,
    tokens: readonly number[],
  ): Promise<Receipt | { readonly kind: 'refused'; readonly reason: string }> {
    const completion = scoringOf({ tokens, targetStart: 1 }, 0);
    const answer = await this.post('/v1/completions', { ...completion.body, model });
    if (answer.kind !== 'response') throw new ReplicaAway('it gave no probabilities');
    if (answer.status === 200) return readReceipt(answer.body, completion);
    const reason = `it gives no probabilities: status ${answer.status}: ${readReason(answer.body)}`;
    if (mayPass(answer.status) || answer.status === 500) throw new ReplicaAway(reason);
    return { kind: 'refused', reason };
  }

  private post(path: string, body: unknown, cancel?: AbortSignal): Promise<Exchange> {
    return this.ask({ method: 'POST', path, body }, cancel);
  }

  private ask(
    { path, ...call }: { readonly method: 'GET' | 'POST'; readonly path: string; readonly body?: unknown },
    cancel: AbortSignal = this.closing.signal,
  ): Promise<Exchange> {
    // While it is being identified it has no life yet that could end.
    const lost = this.isUp ? this.life.signal : undefined;
    return exchange({ ...call, url: `${this.url}${path}` }, this.options.limits, { cancel, lost });
  }
}
