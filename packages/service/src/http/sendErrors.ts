import { randomInt } from 'node:crypto';
import { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { ApiError } from '@engraft/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { newId } from '../ids.js';
import { envelopeOf, toApiError } from './apiErrors.js';
import { describeError } from './describeError.js';

/** Every exception of a hook or route leaves as the error envelope. Unexpected ones are logged in full. */
export function sendErrors(app: FastifyInstance): void {
  app.setErrorHandler((error: unknown, request, reply) => {
    const answer = toApiError(error);
    request.state.error_code = answer.code;
    if (answer.status >= 500) {
      const level = answer.code === 'internal_error' ? 'error' : 'warn';
      request.log[level]({ error_code: answer.code, error: describeError(error) }, 'failed');
    }
    return sendError(answer, request, reply);
  });
}

/**
 * Answers what the framework refuses before any hook runs, such as a URL that cannot be decoded. Such a request names
 * nothing.
 */
export function sendFrameworkError(_error: Error, request: FastifyRequest, reply: FastifyReply): void {
  void reply.header('x-request-id', request.id);
  void sendError(new ApiError('not_found'), request, reply);
}

/**
 * For input that is not HTTP, has endless headers, or asks for a tunnel. There is no request, only a socket. If it
 * follows a whole request, that request still gets its answer, which is the last on this connection.
 */
export function sendClientError(error: Error, socket: Duplex): void {
  const code = 'code' in error ? error.code : undefined;
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const response = responseUnderWay(socket);
  if (response !== null) {
    if (!endingSockets.has(socket)) response.once('close', () => socket.destroy());
    endingSockets.add(socket);
    return;
  }
  const requestId = newId('req');
  const answer = new ApiError('invalid_request', { message: 'This is not a well-formed HTTP request.' });
  const body = JSON.stringify(envelopeOf(answer, requestId));
  const head = [
    `HTTP/1.1 ${answer.status} Unprocessable Entity`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** Sockets that close once the current answer is sent. */
const endingSockets = new WeakSet<Duplex>();

/**
 * The answer to a request that is whole. Node.js's own handler looks at this property, too (`socketOnError` in
 * lib/_http_server.js).
 */
function responseUnderWay(socket: Duplex): ServerResponse | null {
  const response = '_httpMessage' in socket ? socket._httpMessage : null;
  const isUnderWay = (each: unknown): each is ServerResponse =>
    each instanceof ServerResponse &&
    each.req instanceof IncomingMessage &&
    each.req.complete &&
    !each.writableFinished;
  return isUnderWay(response) ? response : null;
}

function sendError(error: ApiError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // The console's routes ask for no key.
  if (error.code === 'unauthorized' && request.routeOptions.config.console === undefined)
    void reply.header('www-authenticate', 'Bearer');
  if (error.code === 'queue_full') void reply.header('retry-after', queueRetrySeconds());
  const envelope = envelopeOf(error, request.id);
  // OpenAI's clients repeat every 409, 429 and 5xx unless told otherwise: without an idempotency key, as a new job each
  // time. An admission whose end is unknown may have made a job already; a 429 has made none.
  const mayRepeat = envelope.error.retryable && (error.status === 429 || !request.state.repeatsAsNew);
  void reply.header('x-should-retry', String(mayRepeat));
  return reply.code(error.status).send(envelope);
}

/** A random delay, so that clients refused together come back one by one. */
function queueRetrySeconds(): number {
  return randomInt(2, 11);
}
