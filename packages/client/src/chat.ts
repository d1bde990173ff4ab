import {
  chatCompletion,
  type ChatCompletion,
  chatCompletionChunk,
  type ChatCompletionChunk,
  type ChatRequestInput,
} from '@engraft/contract';
import { EngraftConnectionError, toApiError } from './errors.js';
import type { WriteOptions } from './resources.js';
import { readEventData } from './serverSentEvents.js';
import { type CallOptions, parseSuccess, type Transport } from './transport.js';

export interface ChatOptions extends WriteOptions {
  /** The subject, if a header is more convenient. */
  readonly subject?: string;
}

export type NewChatCompletion = Omit<ChatRequestInput, 'stream' | 'stream_options'>;
export interface NewChatStream extends NewChatCompletion {
  readonly stream: true;
  readonly stream_options?: ChatRequestInput['stream_options'];
}

type NewPlainChat = NewChatCompletion & { readonly stream?: false | null };

/** `POST /v1/chat/completions` */
export interface ChatCompletions {
  /** Rejects with an `EngraftApiError` that names the job if it has not succeeded within the service's wait. */
  create(
    request: NewChatCompletion & { readonly stream?: false | null },
    options?: ChatOptions,
  ): Promise<ChatCompletion>;
  /** Resolves when the job is admitted. The chunks come when it has succeeded. Breaking off does not cancel the job. */
  create(request: NewChatStream, options?: ChatOptions): Promise<AsyncIterable<ChatCompletionChunk>>;
}

export interface Chat {
  readonly completions: ChatCompletions;
}

const path = '/v1/chat/completions';
/** Longer than the service waits for the job. */
const minTimeoutMs = 300_000;

export function chatOf(transport: Transport): Chat {
  function create(request: NewPlainChat, options?: ChatOptions): Promise<ChatCompletion>;
  function create(request: NewChatStream, options?: ChatOptions): Promise<AsyncIterable<ChatCompletionChunk>>;
  async function create(
    body: NewChatCompletion & { readonly stream?: boolean | null },
    { idempotencyKey = crypto.randomUUID(), subject, ...options }: ChatOptions = {},
  ): Promise<ChatCompletion | AsyncIterable<ChatCompletionChunk>> {
    const headers = {
      'idempotency-key': idempotencyKey,
      ...(subject === undefined ? {} : { 'x-service-subject': subject }),
    };
    const request = { method: 'POST', path, body, headers, repeatable: true, minTimeoutMs } as const;
    if (!isStreaming(body)) {
      return transport.send({ ...request, response: chatCompletion }, options);
    }
    const open = (): Promise<Response> => transport.open(request, options);
    return readChunks(await open(), open, transport.maxRetries, options);
  }
  return { completions: { create } };
}

function isStreaming(body: { readonly stream?: boolean | null }): boolean {
  return body.stream === true;
}

/**
 * The chunks of a stream. A stream that breaks before its first chunk is opened again, as the same job under the same
 * idempotency key.
 */
async function* readChunks(
  first: Response,
  open: () => Promise<Response>,
  maxRetries: number,
  { signal }: CallOptions,
): AsyncGenerator<ChatCompletionChunk, void> {
  let response = first;
  for (let attempt = 0; ; attempt += 1) {
    let received = 0;
    try {
      for await (const chunk of parseChunks(response)) {
        received += 1;
        yield chunk;
      }
      return;
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof StreamLost)) throw error;
      if (received > 0 || attempt >= maxRetries) throw new EngraftConnectionError(error.message, { cause: error });
    }
    response = await open();
  }
}

class StreamLost extends Error {}

async function* parseChunks(response: Response): AsyncGenerator<ChatCompletionChunk, void> {
  for await (const data of received(response)) {
    if (data === '[DONE]') return;
    const event = parseJson(data);
    const error = toApiError(event, null, response.headers.get('x-request-id'));
    if (error !== null) throw error;
    yield parseSuccess(chatCompletionChunk, event);
  }
  throw new StreamLost('the stream ended before its end');
}

async function* received({ body }: Response): AsyncGenerator<string, void> {
  if (body === null) return;
  const events = readEventData(body);
  for (;;) {
    const next = await events.next().catch((cause: unknown) => {
      throw new StreamLost('the stream was lost', { cause });
    });
    if (next.done === true) return;
    yield next.value;
  }
}

function parseJson(data: string): unknown {
  try {
    return JSON.parse(data) as unknown;
  } catch (cause) {
    throw new EngraftConnectionError('the stream is not what the contract describes', { cause });
  }
}
