/**
 * A remote model, which is paid by its receipts. A call is made at most once. It is written down before it is made, and
 * again with its receipt, so that whoever goes on after a crash knows which calls were accepted.
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
  /** Makes repeated answers alike, and tells the calls of one job apart. */
  readonly seed: number;
}

export interface RemoteUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** A part of `inputTokens`. */
  readonly cachedInputTokens: number;
}

export interface RemoteAnswer {
  /** Any text, or none. */
  readonly text: string;
  readonly usage: RemoteUsage;
}

/** `reason` is for logs. It holds nothing of the question or the answer. */
export type RemoteOutcome =
  | ({ readonly kind: 'answered' } & RemoteAnswer)
  /** The request was certainly not executed, so it may be sent again. */
  | { readonly kind: 'not_executed'; readonly reason: string }
  /** The request was accepted, or may have been, and its cost is not known. */
  | { readonly kind: 'receipt_missing'; readonly reason: string }
  | { readonly kind: 'receipt_inconsistent'; readonly reason: string };

export interface RemoteModel {
  /** Repeats only what was not executed. It ends within seconds when the signal aborts, and never rejects. */
  ask(request: RemoteRequest, signal?: AbortSignal): Promise<RemoteOutcome>;
}

/** The trace of a call that an earlier run of the job made. */
export type KnownRemoteCall =
  | { readonly kind: 'new' }
  | ({ readonly kind: 'answered' } & RemoteAnswer)
  /** The call was made, but its answer was never stored. */
  | { readonly kind: 'unknown' };

/** Keeps the calls of one job until its teaching is stored. */
export interface RemoteCallJournal {
  /** Looks the call up. A `new` one is written down as being made. */
  begin(key: string): Promise<KnownRemoteCall>;
  /** Removes a call that was not executed. */
  withdraw(key: string): Promise<void>;
  store(key: string, answer: RemoteAnswer): Promise<void>;
}

/** The remote model did not answer, or its receipt cannot be billed. */
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
 * Returns texts in the order of the requests, and `null` for those that no longer fit under `share` of the cap, which
 * are the last ones. Rejects with `RemoteModelError`.
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

/** The most tokens that a chat template is taken to put around the messages. */
const templateTokens = 512;

/** A bound that holds for any tokenizer, as we do not know the model's: a text has no more tokens than bytes. */
function mostInputTokens({ messages }: RemoteRequest): number {
  return messages.reduce((sum, { content }) => sum + Buffer.byteLength(content), templateTokens);
}

function keyOf({ messages, maxTokens, temperature, seed }: RemoteRequest): string {
  return createHash('sha256')
    .update(JSON.stringify([messages, maxTokens, temperature, seed]))
    .digest('hex');
}
