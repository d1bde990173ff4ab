/**
 * One request over a connection of its own. A connection that is kept open may be gone by the next request, and nobody
 * could tell whether that was sent. Here nothing is sent before the connection is made, and closing it cancels the
 * server's work.
 */
import http from 'node:http';
import https from 'node:https';

export type Exchange =
  | { readonly kind: 'response'; readonly status: number; readonly body: string }
  /** Nothing was sent, for certain. */
  | { readonly kind: 'not_sent'; readonly reason: string }
  /** It may have been sent, and no whole response came. */
  | { readonly kind: 'broken'; readonly reason: string }
  /** The caller's signal closed the connection. */
  | { readonly kind: 'cancelled' };

export interface ExchangeLimits {
  readonly connectMs: number;
  /** From the first byte of the request to the last of the response. */
  readonly response_ms: number;
  readonly maxResponseBytes: number;
}

export interface Call {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** Sent as JSON. */
  readonly body?: unknown;
}

export interface ExchangeSignals {
  /** The caller has lost interest. */
  readonly cancel?: AbortSignal | undefined;
  /** The server is given up, which breaks the exchange. */
  readonly lost?: AbortSignal | undefined;
}

/** Follows no redirect. Never rejects. */
export function exchange(call: Call, limits: ExchangeLimits, signals: ExchangeSignals): Promise<Exchange> {
  // Many exchanges have one signal, and Node.js warns of many listeners on one.
  const [cancel, lost] = [signals.cancel, signals.lost].map((each) => each && AbortSignal.any([each]));
  const { promise, end } = settledOnce();
  if (cancel?.aborted === true) return Promise.resolve({ kind: 'cancelled' });
  if (lost?.aborted === true) return Promise.resolve({ kind: 'not_sent', reason: 'the server is given up' });
  let isConnected = false;
  const giveUp = (reason: string): void => end({ kind: isConnected ? 'broken' : 'not_sent', reason });
  const request = open(call);
  let timer = setTimeout(() => giveUp('no connection in time'), limits.connectMs);
  const onCancel = (): void => end({ kind: 'cancelled' });
  const onLost = (): void => giveUp('the server gave no sign of life');
  cancel?.addEventListener('abort', onCancel, { once: true });
  lost?.addEventListener('abort', onLost, { once: true });
  request.once('socket', (socket) => {
    socket.once(request.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      isConnected = true;
      clearTimeout(timer);
      timer = setTimeout(() => giveUp('no answer in time'), limits.response_ms);
    });
  });
  request.once('error', (error) => giveUp(nameOf(error)));
  request.once('response', (response) => readResponse(response, limits.maxResponseBytes, end));
  request.end(call.body === undefined ? undefined : JSON.stringify(call.body));
  return promise.finally(() => {
    clearTimeout(timer);
    cancel?.removeEventListener('abort', onCancel);
    lost?.removeEventListener('abort', onLost);
    // Errors that this causes do not matter any more.
    request.on('error', () => undefined).destroy();
  });
}

function settledOnce(): { readonly promise: Promise<Exchange>; readonly end: (exchange: Exchange) => void } {
  let end: (exchange: Exchange) => void = () => undefined;
  const promise = new Promise<Exchange>((resolve) => {
    end = resolve;
  });
  return { promise, end };
}

function open({ method, url, body }: Call): http.ClientRequest {
  const headers = { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
  const options = { method, headers, agent: false } as const;
  return url.startsWith('https:') ? https.request(url, options) : http.request(url, options);
}

function readResponse(response: http.IncomingMessage, maxBytes: number, end: (exchange: Exchange) => void): void {
  const { statusCode: status = 0 } = response;
  const pieces: Buffer[] = [];
  let bytes = 0;
  response.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > maxBytes) end({ kind: 'broken', reason: `a response of more than ${maxBytes} bytes` });
    else pieces.push(piece);
  });
  response.once('error', (error) => end({ kind: 'broken', reason: nameOf(error) }));
  response.once('end', () => end({ kind: 'response', status, body: Buffer.concat(pieces).toString('utf8') }));
}

/** 'ECONNREFUSED': a message could quote what was sent. */
function nameOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
