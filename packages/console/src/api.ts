import { consoleHeader } from '@engraft/contract/console';
import { z } from 'zod';

/** An answer of the service that is no success: `message` says what to do. */
export class ConsoleError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
    this.name = 'ConsoleError';
  }
}

const envelope = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

export async function get<Schema extends z.ZodType>(schema: Schema, path: string): Promise<z.output<Schema>> {
  return schema.parse(await send('GET', path));
}

export async function post<Schema extends z.ZodType>(
  schema: Schema,
  path: string,
  body?: unknown,
  idempotencyKey?: string,
): Promise<z.output<Schema>> {
  return schema.parse(await send('POST', path, body, idempotencyKey));
}

export async function remove(path: string): Promise<void> {
  await send('DELETE', path);
}

/** A request whose answer has no body that matters. */
export async function send(method: string, path: string, body?: unknown, idempotencyKey?: string): Promise<unknown> {
  const response = await request(method, path, body, idempotencyKey);
  const text = await response.text();
  return text === '' ? null : (JSON.parse(text) as unknown);
}

/** A file that is not JSON, as it is. */
export async function getFile(path: string): Promise<Blob> {
  return (await request('GET', path)).blob();
}

async function request(method: string, path: string, body?: unknown, idempotencyKey?: string): Promise<Response> {
  const response = await fetch(`/console/api${path}`, {
    method,
    credentials: 'same-origin',
    headers: {
      [consoleHeader]: '1',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new ConsoleError(0, 'unreachable', 'The service does not answer. Check that it runs, then try again.');
  });
  if (!response.ok) throw errorOf(response.status, await response.text());
  return response;
}

function errorOf(status: number, text: string): ConsoleError {
  try {
    const { error } = envelope.parse(JSON.parse(text));
    return new ConsoleError(status, error.code, error.message);
  } catch {
    return new ConsoleError(status, 'unknown', `The service answered with status ${status}. Try again in a moment.`);
  }
}
