/**
 * A model elsewhere, which is paid by its receipts. A call is made at most once: it is written down before it is made,
 * and once more with its receipt, so that whoever goes on after a crash knows which calls were accepted.
 */
import { createHash } from 'node:crypto';
import { throwIfCancelled, type MeteredCalls, type PlannedCall } from './calls.js';
import { noUsage } from './meter.js';

export interface RemoteMessage {
  readonly role: 'system' | 'user';
  readonly content: string;
}

export interface RemoteRequest {
  readonly messages: readonly RemoteMessage[];
  readonly maxTokens: number;
  readonly temperature: number;
  /** Beside making repeated answers alike, it tells calls of one job apart. */
  readonly seed: number;
}

export interface RemoteUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** A part of `inputTokens`. */
  readonly cachedInputTokens: number;
}

export interface RemoteAnswer {
  /** May be empty, or anything at all. */
  readonly text: string;
  readonly usage: RemoteUsage;
}

/** `reason` is for logs: it holds nothing of what was asked or answered. */
export type RemoteOutcome =
  | ({ readonly kind: 'answered' } & RemoteAnswer)
  /** It was certainly not executed, so it may be asked again. */
  | { readonly kind: 'not_executed'; readonly reason: string }
  /** It was accepted, or may have been, and nobody says what it cost. */
  | { readonly kind: 'receipt_missing'; readonly reason: string }
  | { readonly kind: 'receipt_inconsistent'; readonly reason: string };

export interface RemoteModel {
  /** Repeats only what was not executed. Aborting the signal ends it within seconds; never rejects. */
  ask(request: RemoteRequest, signal?: AbortSignal): Promise<RemoteOutcome>;
}

/** What an earlier run of the job left of a call. */
export type KnownRemoteCall =
  | { readonly kind: 'new' }
  | ({ readonly kind: 'answered' } & RemoteAnswer)
  /** It was made, and its answer never came to be stored. */
  | { readonly kind: 'unknown' };

/** Where the caller keeps the calls of one job until its teaching is stored. */
export interface RemoteCallJournal {
  /** Looks the call up; a `new` one is written down as being made. */
  begin(key: string): Promise<KnownRemoteCall>;
  /** It was not executed. */
  withdraw(key: string): Promise<void>;
  store(key: string, answer: RemoteAnswer): Promise<void>;
}

/** The model elsewhere did not answer, or its receipt cannot be billed. */
export class RemoteModelError extends Error {
  override readonly name = 'RemoteModelError';

  constructor(
    readonly code: Exclude<RemoteOutcome['kind'], 'answered'>,
    reason: string,
  ) {
    super(`the model elsewhere: ${reason}`);
  }
}

/**
 * Texts in the order of the requests; `null` for those that no longer fit under `share` of the cap, which are the
 * last ones. Rejects with `RemoteModelError`.
 */
export async function askRemote(
  calls: MeteredCalls,
  model: RemoteModel,
  requests: readonly RemoteRequest[],
  share: number,
): Promise<(string | null)[]> {
  const planned = requests.map((request): PlannedCall<string> => {
    const worst = { ...noUsage, input_tokens: mostInputTokens(request), output_tokens: request.maxTokens };
    return {
      worst,
      requestCount: 1,
      run: async () => {
        const { text, usage } = await askOnce(calls, model, request);
        const { inputTokens, outputTokens, cachedInputTokens } = usage;
        const used = { input_tokens: inputTokens, output_tokens: outputTokens, cached_input_tokens: cachedInputTokens };
        return { result: text, usage: { ...noUsage, ...used } };
      },
    };
  });
  return calls.runAffordable(planned, share);
}

async function askOnce(
  { signal, remoteCalls: journal }: MeteredCalls,
  model: RemoteModel,
  request: RemoteRequest,
): Promise<RemoteAnswer> {
  throwIfCancelled(signal);
  const key = keyOf(request);
  const known = await journal?.begin(key);
  if (known?.kind === 'answered') return known;
  if (known?.kind === 'unknown') {
    throw new RemoteModelError('receipt_missing', 'a call of an earlier run was made, and its answer is lost');
  }
  const outcome = await model.ask(request, signal);
  switch (outcome.kind) {
    case 'answered': {
      const { text, usage } = outcome;
      if (usage.inputTokens > mostInputTokens(request)) {
        throw new RemoteModelError('receipt_inconsistent', 'its receipt counts more tokens than the prompt has bytes');
      }
      await journal?.store(key, { text, usage });
      return outcome;
    }
    case 'not_executed':
      await journal?.withdraw(key);
      throwIfCancelled(signal);
      throw new RemoteModelError(outcome.kind, outcome.reason);
    case 'receipt_missing':
    case 'receipt_inconsistent':
      throw new RemoteModelError(outcome.kind, outcome.reason);
  }
}

/** A chat template may put so many tokens around the messages. */
const templateTokens = 512;

/** No tokenizer makes more tokens of a text than it has bytes; which one the model has is not known here. */
function mostInputTokens({ messages }: RemoteRequest): number {
  return messages.reduce((sum, { content }) => sum + Buffer.byteLength(content), templateTokens);
}

function keyOf({ messages, maxTokens, temperature, seed }: RemoteRequest): string {
  return createHash('sha256')
    .update(JSON.stringify([messages, maxTokens, temperature, seed]))
    .digest('hex');
}
