import { EngineError, type TrainingStart } from '@engraft/engine';
import { exchange, type Call, type Exchange, type ExchangeLimits } from './http/exchange.js';
import {
  engineCodeOf,
  openingOf,
  readDescription,
  readOpened,
  readRefusal,
  type Opened,
  type TrainerDescription,
} from './http/wire.js';

export interface TrainerLimits {
  /** For questions that are answered at once. */
  readonly quickMs: number;
  /** For what computes. */
  readonly computeMs: number;
  /** Leases that were not renewed in a row, until a trainer is given up. */
  readonly maxMissedRenewals: number;
}

export type Found =
  | { readonly kind: 'fits'; readonly description: TrainerDescription }
  | { readonly kind: 'away'; readonly reason: string }
  /** It answers, and is something else or has another model. */
  | { readonly kind: 'unfit'; readonly reason: string };

export type Opening =
  | { readonly kind: 'opened'; readonly session: Opened; readonly description: TrainerDescription }
  /** It has no room for the session now. Another one may. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** It was asked, and gave no answer: it may have died of it. */
  | { readonly kind: 'lost'; readonly reason: string };

const maxTextBytes = 2 ** 20;

/** One trainer, by its address. */
export class Trainer {
  constructor(
    readonly url: string,
    readonly limits: TrainerLimits,
  ) {}

  /** Asks what it is. `model` is the content hash that it should have. */
  async describe(model: string, cancel: AbortSignal): Promise<Found> {
    const answer = await this.ask({ method: 'GET', path: '/' }, { quick: true }, cancel);
    if (answer.kind === 'failed') return { kind: 'away', reason: answer.reason };
    const description = answer.status === 200 ? readDescription(answer.body) : null;
    if (description === null) return { kind: 'unfit', reason: 'it is no trainer of this release' };
    if (description.model === model) return { kind: 'fits', description };
    return { kind: 'unfit', reason: `it has the checkpoint ${description.model}, and ENGRAFT_MODEL_DIR is ${model}` };
  }

  /**
   * @throws EngineError about the adapter or the options, which no other trainer would take either.
   */
  async open(
    start: TrainingStart,
    model: string,
    protectedTokens: readonly (readonly number[])[],
    cancel: AbortSignal,
  ): Promise<Opening> {
    const found = await this.describe(model, cancel);
    if (found.kind !== 'fits') return { kind: 'refused', reason: found.reason };
    if (found.description.busy) return { kind: 'refused', reason: 'it is busy' };
    const body = openingOf(start, model, protectedTokens);
    const { max_state_bytes: most } = found.description;
    if (body.byteLength > most) {
      // Said here, since a connection that breaks while a body is sent would be taken for a trainer that is away.
      const larger = `the training begins with ${body.byteLength} bytes, above the ${most} of --max-state-bytes`;
      throw new EngineError('memory_exceeded', `the trainer ${this.url}: ${larger}`);
    }
    const answer = await this.ask({ method: 'POST', path: '/sessions', body }, {}, cancel);
    if (answer.kind === 'failed') return { kind: 'lost', reason: answer.reason };
    const session = answer.status === 201 ? readOpened(answer.body) : null;
    if (session !== null) return { kind: 'opened', session, description: found.description };
    const refusal = readRefusal(answer.body);
    if (refusal === null) return { kind: 'refused', reason: `it answered with status ${answer.status}` };
    const code = engineCodeOf(refusal);
    if (code === 'not_running' || code === 'process_lost') return { kind: 'refused', reason: refusal.message };
    throw new EngineError(code, `the trainer ${this.url}: ${refusal.message}`);
  }

  ask(
    { path, ...call }: Omit<Call, 'url'> & { readonly path: string },
    { quick = false, maxBytes = maxTextBytes }: { readonly quick?: boolean; readonly maxBytes?: number },
    cancel: AbortSignal,
  ): Promise<Exchange> {
    const { quickMs, computeMs } = this.limits;
    const limits: ExchangeLimits = { answerMs: quick ? quickMs : computeMs, maxResponseBytes: maxBytes };
    return exchange({ ...call, url: `${this.url}${path}` }, limits, cancel);
  }
}
