/** One request over a connection of its own, so that none fails because an idle connection has gone. */
import http from 'node:http';
import https from 'node:https';

export interface Call {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly body?: Uint8Array;
}

export interface ExchangeLimits {
  /** From the beginning to the last byte of the response. */
  readonly answerMs: number;
  readonly maxResponseBytes: number;
}

export type Exchange =
  | { readonly kind: 'response'; readonly status: number; readonly body: Uint8Array }
  /** No whole response came. The server may have done what it was asked. */
  | { readonly kind: 'failed'; readonly reason: string };

/** Follows no redirect. Never rejects. */
export async function exchange(
  { method, url, body }: Call,
  { answerMs, maxResponseBytes }: ExchangeLimits,
  cancel: AbortSignal,
): Promise<Exchange> {
  const late = AbortSignal.timeout(answerMs);
  try {
    return await new Promise<Exchange>((resolve, reject) => {
      const headers = { connection: 'close', 'content-length': body?.byteLength ?? 0 };
      const options = { method, headers, agent: false, signal: AbortSignal.any([cancel, late]) } as const;
      const request = url.startsWith('https:') ? https.request(url, options) : http.request(url, options);
      request.once('error', reject);
      request.once('response', (response) => {
        readResponse(response, maxResponseBytes).then(resolve, reject);
      });
      request.end(body);
    });
  } catch (error) {
    return { kind: 'failed', reason: late.aborted ? 'no answer in time' : nameOf(error) };
  }
}

async function readResponse(response: http.IncomingMessage, maxBytes: number): Promise<Exchange> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response as AsyncIterable<Uint8Array>) {
    bytes += piece.byteLength;
    if (bytes > maxBytes) {
      response.destroy();
      return { kind: 'failed', reason: `a response of more than ${maxBytes} bytes` };
    }
    pieces.push(piece);
  }
  return { kind: 'response', status: response.statusCode ?? 0, body: Buffer.concat(pieces) };
}

/** 'ECONNREFUSED': a message could quote what was sent. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'an unknown error';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
