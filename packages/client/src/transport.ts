import { backoffMs, wait } from './backoff.js';
import { EngraftConnectionError, readApiError } from './errors.js';

export interface ClientOptions {
  /** Where the service is, such as `http://127.0.0.1:8080`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** How often a request is repeated after a network error, 429 or 5xx. The default is 4. */
  readonly maxRetries?: number;
  /**
   * How long an attempt may take, in milliseconds, the body included. The default is 60,000. Chat completions have
   * 300,000 at least, since the service waits for their jobs.
   */
  readonly timeoutMs?: number;
  /** Used in place of the global `fetch`. */
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** The tenant namespace, for keys that are not restricted to one. */
  readonly tenant?: string;
}

/** How this file uses the contract's schemas. */
export interface Schema<Value> {
  safeParse(
    value: unknown,
  ):
    | { readonly success: true; readonly data: Value }
    | { readonly success: false; readonly error: { readonly issues: readonly { readonly path: PropertyKey[] }[] } };
}

export interface ApiRequest<Value> {
  readonly method: 'GET' | 'POST';
  /** The path with its query, such as `/v1/jobs?limit=10`. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The shape of a success. */
  readonly response: Schema<Value>;
  /** Whether it can safely be repeated: reads, and writes under one idempotency key. */
  readonly repeatable: boolean;
  /** The least that an attempt may take, whatever the client's timeout is. */
  readonly minTimeoutMs?: number;
}

export type Send = <Value>(request: ApiRequest<Value>, options?: CallOptions) => Promise<Value>;

export interface Transport {
  readonly send: Send;
  /** A successful response whose body has not been read yet. */
  readonly open: (request: Omit<ApiRequest<unknown>, 'response'>, options?: CallOptions) => Promise<Response>;
  readonly maxRetries: number;
}

const retryBackoff = { baseMs: 250, maxMs: 8_000 };
const maxRetryAfterMs = 60_000;
const defaultTimeoutMs = 60_000;

/** Sends requests with the key, repeats those that may succeed the next time, and checks the answers. */
export function createTransport(options: ClientOptions): Transport {
  const base = checkedBase(options.baseUrl);
  const authorization = checkedAuthorization(options.apiKey);
  const maxRetries = options.maxRetries ?? 4;
  const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
  const fetchOnce = options.fetch ?? fetch;

  async function request<Body>(
    { method, path, body, headers, repeatable, minTimeoutMs = 0 }: Omit<ApiRequest<unknown>, 'response'>,
    read: (response: Response) => Promise<Body>,
    { signal, tenant }: CallOptions = {},
  ): Promise<Body> {
    const init: RequestInit = {
      method,
      headers: {
        authorization,
        accept: 'application/json, text/event-stream',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(tenant === undefined ? {} : { 'x-service-tenant': tenant }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    // A TypeError for a value that no header may have, such as a tenant in Chinese: repeating it would not help.
    new Headers(init.headers);
    for (let attempt = 0; ; attempt += 1) {
      const timeout = AbortSignal.timeout(Math.max(timeoutMs, minTimeoutMs));
      const ending = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
      const outcome = await attemptOnce(() => fetchOnce(base + path, { ...init, signal: ending }), read, base, signal);
      if (outcome.kind === 'success') return outcome.body;
      if (!outcome.retry || !repeatable || attempt >= maxRetries) throw outcome.error;
      await wait(outcome.retryAfterMs ?? backoffMs(attempt, retryBackoff), signal);
    }
  }

  return {
    send: async (wanted, callOptions) =>
      parseSuccess(wanted.response, await request(wanted, (response) => response.json(), callOptions)),
    open: (wanted, callOptions) => request(wanted, (response) => Promise.resolve(response), callOptions),
    maxRetries,
  };
}

/** @throws a TypeError that does not repeat the address, which may contain a password */
function checkedBase(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new TypeError('the base URL must be an address that starts with http:// or https://');
  }
  if (url.username !== '' || url.password !== '') {
    throw new TypeError('the base URL must not hold a user name or password: the service asks for an API key');
  }
  const base = baseUrl.replace(/\/+$/, '');
  if (base.endsWith('/v1')) {
    throw new TypeError('the base URL must not end in /v1, as those for other clients do: the paths begin with it');
  }
  return base;
}

/** @throws a TypeError that does not repeat the key, as fetch's would */
function checkedAuthorization(apiKey: string): string {
  if (/^[\x21-\x7e]+$/.test(apiKey)) return `Bearer ${apiKey}`;
  throw new TypeError(
    'the API key cannot be one: it is empty, or holds a space, a line break or another character of no key',
  );
}

type Attempt<Body> =
  | { readonly kind: 'success'; readonly body: Body }
  | {
      readonly kind: 'failure';
      readonly error: Error;
      readonly retry: boolean;
      readonly retryAfterMs: number | null;
    };

async function attemptOnce<Body>(
  fetchOnce: () => Promise<Response>,
  read: (response: Response) => Promise<Body>,
  base: string,
  signal: AbortSignal | undefined,
): Promise<Attempt<Body>> {
  try {
    const response = await fetchOnce();
    if (response.ok) return { kind: 'success', body: await read(response) };
    const retry = response.status === 429 || response.status >= 500;
    const retryAfterMs = readRetryAfterMs(response);
    return { kind: 'failure', error: await readApiError(response), retry, retryAfterMs };
  } catch (cause) {
    // The caller gave up. Nothing failed.
    signal?.throwIfAborted();
    const error = new EngraftConnectionError(`no answer from ${new URL(base).origin}: ${describe(cause)}`, { cause });
    return { kind: 'failure', error, retry: true, retryAfterMs: null };
  }
}

/** fetch says only "fetch failed". Its cause says what failed. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message;
}

/** The header's number of seconds. The service sends no dates. */
function readRetryAfterMs(response: Response): number | null {
  const text = response.headers.get('retry-after');
  if (text === null || !/^\d+$/.test(text)) return null;
  return Math.min(Number(text) * 1000, maxRetryAfterMs);
}

/** Rejects what the contract does not allow. */
export function parseSuccess<Value>(schema: Schema<Value>, body: unknown): Value {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues[0]?.path.map(String).join('.') ?? '';
  throw new EngraftConnectionError(`the answer is not what the contract describes, at '${where}'`);
}
