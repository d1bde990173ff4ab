import type { Readable } from 'node:stream';
import { ApiError, jsonProblems, limits, shownName, type ReadOutcome } from '@engraft/contract';
import type { FastifyRequest } from 'fastify';

/**
 * The bytes of a request body, "counted while reading, whatever Content-Length says". After a refusal Node.js reads and
 * drops the rest once the response has been sent, so that the client sees the response.
 */
export async function readBodyBytes(stream: Readable): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const stop = (): void => {
      stream.off('data', onData).off('end', onEnd).off('error', onLost).off('close', onLost);
    };
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes <= limits.maxRequestBodyBytes) {
        chunks.push(chunk);
        return;
      }
      stop();
      stream.resume();
      reject(new ApiError('payload_too_large'));
    };
    const onEnd = (): void => {
      stop();
      resolve(Buffer.concat(chunks));
    };
    const onLost = (): void => {
      stop();
      reject(new ApiError('invalid_request', { message: 'The connection ended before the whole body had come.' }));
    };
    stream.on('data', onData).on('end', onEnd).on('error', onLost).on('close', onLost);
  });
}

/** The JSON body of a request, read by the contract. A body that does not fit is 422 `invalid_request`. */
export function readJsonBody<Value>(request: FastifyRequest, read: (body: unknown) => ReadOutcome<Value>): Value {
  if (!isJsonContentType(request.headers['content-type'])) {
    throw wrongContentType();
  }
  if (!/^(identity)?$/i.test(request.headers['content-encoding'] ?? '')) {
    throw invalid('Content-Encoding', 'the body must be sent as it is, not compressed');
  }
  const outcome = read(parseJson(request.state.body ?? Buffer.alloc(0)));
  if (outcome.kind === 'invalid') throw invalid(outcome.param, outcome.message);
  return outcome.value;
}

/** "Query parameters that an endpoint does not define are refused with 422 rather than ignored." */
export function refuseQueryParameters(request: FastifyRequest): void {
  const [name] = queryOf(request).keys();
  if (name !== undefined)
    throw invalid(shownName(name.slice(0, 100)), 'this endpoint takes no query parameter of this name');
}

/** Reads the text after the first question mark. A second one belongs to a name or value. */
export function queryOf(request: FastifyRequest): URLSearchParams {
  return new URLSearchParams(request.url.split('?').slice(1).join('?'));
}

/** A 422 about one field, header or parameter. '' is the body itself. */
export function invalid(param: string, message: string): ApiError {
  return new ApiError('invalid_request', {
    message: param === '' ? `Invalid body: ${message}.` : `Invalid ${param}: ${message}.`,
    ...(param === '' ? {} : { param }),
  });
}

/** For a body of another content type, or of none that can be read. */
export function wrongContentType(): ApiError {
  return invalid('Content-Type', 'the body must be sent as application/json, in UTF-8');
}

function isJsonContentType(header: string | undefined): boolean {
  return /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?;?$/i.test(header ?? '');
}

function parseJson(bytes: Buffer): unknown {
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw invalid('', 'it is not JSON in UTF-8');
  }
  for (const { param, message } of jsonProblems(text)) throw invalid(param, message);
  return value;
}
