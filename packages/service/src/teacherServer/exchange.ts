/**
 * One request over a connection of its own. `fetch` does not tell whether a request was sent before its connection
 * broke, and a connection that is kept open may be gone by the next request. Here nothing is sent before the connection
 * is made.
 */
import http from 'node:http';
import https from 'node:https';

export type Exchange =
  | { readonly kind: 'response'; readonly status: number; readonly retryAfterS: number | null; readonly body: string }
  /** Nothing was sent, for certain. */
  | { readonly kind: 'not_sent'; readonly reason: string }
  /** It may have been sent, and no whole response came. */
  | { readonly kind: 'broken'; readonly reason: string };

export interface ExchangeLimits {
  readonly connectMs: number;
  /** From the first byte of the request to the last of the response. */
  readonly response_ms: number;
  readonly responseBytes: number;
  /** How long to wait for a request that was sent before the signal aborted. */
  readonly graceMs: number;
}

export interface Posting {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Reads only the head of a response that is no success, and follows no redirect. Never rejects. */
export function post(posting: Posting, limits: ExchangeLimits, signal?: AbortSignal): Promise<Exchange> {
  const { promise, end } = settledOnce();
  if (signal?.aborted === true) {
    end({ kind: 'not_sent', reason: 'cancelled' });
    return promise;
  }
  let isConnected = false;
  let timer: NodeJS.Timeout;
  const giveUp = (reason: string): void => end({ kind: isConnected ? 'broken' : 'not_sent', reason });
  const giveUpAfter = (waitMs: number, reason: string): void => {
    clearTimeout(timer);
    timer = setTimeout(() => giveUp(reason), waitMs);
  };
  const request = open(posting);
  timer = setTimeout(() => giveUp('no connection in time'), limits.connectMs);
  const onAbort = (): void => {
    if (isConnected) giveUpAfter(limits.graceMs, 'no answer before the stop');
    else giveUp('cancelled');
  };
  signal?.addEventListener('abort', onAbort, { once: true });
  request.once('socket', (socket) => {
    socket.once(request.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      isConnected = true;
      giveUpAfter(limits.response_ms, 'no answer in time');
    });
  });
  request.once('error', (error) => giveUp(nameOf(error)));
  request.once('response', (response) => readResponse(response, limits, end));
  request.end(posting.body);
  return promise.finally(() => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
    // Errors that this causes do not matter any more.
    request.on('error', () => undefined).destroy();
  });
}

function open({ url, headers, body }: Posting): http.ClientRequest {
  const all = { ...headers, 'content-length': String(Buffer.byteLength(body)), 'accept-encoding': 'identity' };
  const options = { method: 'POST', headers: all, agent: false } as const;
  return url.startsWith('https:') ? https.request(url, options) : http.request(url, options);
}

function settledOnce(): { readonly promise: Promise<Exchange>; readonly end: (exchange: Exchange) => void } {
  let end: (exchange: Exchange) => void = () => undefined;
  const promise = new Promise<Exchange>((resolve) => {
    end = resolve;
  });
  return { promise, end };
}

function readResponse(
  response: http.IncomingMessage,
  { responseBytes }: ExchangeLimits,
  end: (exchange: Exchange) => void,
): void {
  const { statusCode: status = 0 } = response;
  const retryAfterS = /^\d{1,6}$/.test(response.headers['retry-after'] ?? '')
    ? Number(response.headers['retry-after'])
    : null;
  if (status < 200 || status > 299) {
    end({ kind: 'response', status, retryAfterS, body: '' });
    return;
  }
  const pieces: Buffer[] = [];
  let bytes = 0;
  response.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > responseBytes) end({ kind: 'broken', reason: `a response of more than ${responseBytes} bytes` });
    else pieces.push(piece);
  });
  response.once('error', (error) => end({ kind: 'broken', reason: nameOf(error) }));
  response.once('end', () => {
    end({ kind: 'response', status, retryAfterS, body: Buffer.concat(pieces).toString('utf8') });
  });
}

/** 'ECONNREFUSED': a message could quote what was sent. */
function nameOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
