import { setTimeout as sleep } from 'node:timers/promises';
import type { RemoteModel, RemoteOutcome, RemoteRequest } from '@engraft/learning';
import type { TeacherConfig } from '../config/teacherConfig.js';
import { crashPoint } from '../crashPoints.js';
import { type Exchange, type ExchangeLimits, post } from './exchange.js';
import { readReceipt } from './readReceipt.js';

export interface TeacherLimits extends ExchangeLimits {
  /** The most attempts of a call that was not executed, including the first. */
  readonly attempts: number;
  /** Delay before the second attempt. It doubles each time. */
  readonly firstDelayMs: number;
  /** The longest delay that a server may ask for. */
  readonly maxDelayMs: number;
  /** Calls under way, over all jobs of this process. */
  readonly concurrency: number;
}

/** An answer that comes too late has no receipt, so a slow server gets much time. */
const defaultLimits: TeacherLimits = {
  connectMs: 10_000,
  response_ms: 600_000,
  responseBytes: 1_000_000,
  // A draining worker has nine seconds.
  graceMs: 7_000,
  // A minute and a half in all: a server that restarts loads its model meanwhile.
  attempts: 8,
  firstDelayMs: 1_000,
  maxDelayMs: 30_000,
  concurrency: 4,
};

/** A model behind an OpenAI-compatible server, see `docs/operating`. */
export function openTeacherServer(config: TeacherConfig, limits: Partial<TeacherLimits> = {}): RemoteModel {
  const all = { ...defaultLimits, ...limits };
  const inTurn = turns(all.concurrency);
  return { ask: (request, signal) => inTurn(() => askPatiently(config, request, all, signal)) };
}

async function askPatiently(
  config: TeacherConfig,
  request: RemoteRequest,
  limits: TeacherLimits,
  signal: AbortSignal | undefined,
): Promise<RemoteOutcome> {
  for (let attempt = 1; ; attempt += 1) {
    const exchange = await post(postingOf(config, request), limits, signal);
    crashPoint('teacher_call.made');
    const outcome = outcomeOf(exchange, request.maxTokens);
    if (outcome.kind !== 'not_executed' || !isPassing(exchange) || attempt >= limits.attempts) return outcome;
    const wishedMs = exchange.kind === 'response' ? (exchange.retryAfterS ?? 0) * 1000 : 0;
    const delayMs = Math.max(limits.firstDelayMs * 2 ** (attempt - 1), wishedMs);
    const isCancelled = await sleep(Math.min(delayMs, limits.maxDelayMs), false, { signal }).catch(() => true);
    if (isCancelled) return outcome;
  }
}

/** Only fields that every such server takes. Some refuse fields that they do not know, such as `seed`. */
function postingOf({ url, model, apiKey }: TeacherConfig, { messages, maxTokens, temperature }: RemoteRequest) {
  return {
    url: `${url}/chat/completions`,
    headers: {
      'content-type': 'application/json',
      ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
    },
    body: JSON.stringify({ model, messages, max_tokens: maxTokens, temperature, stream: false }),
  };
}

/** Refused before anything was executed. A 408 or 409 may come later than that. */
function isRefusal(status: number): boolean {
  return status === 503 || (status >= 300 && status <= 499 && status !== 408 && status !== 409);
}

function outcomeOf(exchange: Exchange, maxTokens: number): RemoteOutcome {
  if (exchange.kind === 'not_sent') return { kind: 'not_executed', reason: `it cannot be reached: ${exchange.reason}` };
  if (exchange.kind === 'broken') {
    return { kind: 'receipt_missing', reason: `it was asked, and did not answer to the end: ${exchange.reason}` };
  }
  const { status, body } = exchange;
  if (status >= 200 && status <= 299) return readReceipt(body, maxTokens);
  const reason = `it answered with status ${status}${hints[status] ?? ''}`;
  return { kind: isRefusal(status) ? 'not_executed' : 'receipt_missing', reason };
}

const hints: Readonly<Record<number, string>> = {
  400: ': it refuses the request; its context may be too short, see docs/operating',
  401: ': ENGRAFT_TEACHER_API_KEY is missing or wrong',
  402: ': its account has no credit',
  403: ': ENGRAFT_TEACHER_API_KEY may not do this',
  404: ': it knows no such model, or ENGRAFT_TEACHER_URL is not its base address',
  422: ': it refuses the request, or has no model of that name',
};

/** May be different a moment later. */
function isPassing(exchange: Exchange): boolean {
  return exchange.kind === 'not_sent' || (exchange.kind === 'response' && [429, 503].includes(exchange.status));
}

/** Runs this many at once. The others wait in the order in which they came. */
function turns(concurrency: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let free = concurrency;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((go) => waiting.push(go));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
