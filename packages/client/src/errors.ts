import { errorTable } from '@engraft/contract';

/** An answer of the service that is not a success. */
export class EngraftApiError extends Error {
  override readonly name = 'EngraftApiError';

  constructor(
    /** The HTTP status. */
    readonly status: number,
    /** One of the service's error codes, or `http_<status>` if something else answered. */
    readonly code: string,
    /** Name it when you ask the operator. `null` if the answer had none. */
    readonly request_id: string | null,
    /** Path of the offending field, on 422. */
    readonly param: string | null,
    message: string,
    /** The job that was admitted in spite of the error, on chat completions. Read it before you try again. */
    readonly job_id: string | null = null,
    readonly status_url: string | null = null,
  ) {
    super(message);
  }
}

/** There is no usable answer: the service could not be reached, or sent what its contract does not allow. */
export class EngraftConnectionError extends Error {
  override readonly name = 'EngraftConnectionError';
}

/** Reads the error envelope of the service, or only the status if a proxy answered in its place. */
export async function readApiError(response: Response): Promise<EngraftApiError> {
  const { status } = response;
  const body: unknown = await response.json().catch(() => null);
  const requestId = response.headers.get('x-request-id');
  return (
    toApiError(body, status, requestId) ??
    new EngraftApiError(status, `http_${status}`, requestId, null, `the server answered with status ${status}`)
  );
}

/** The error of an envelope, or `null` if `body` is none. In a stream its status is the one of its code. */
export function toApiError(body: unknown, status: number | null, requestId: string | null): EngraftApiError | null {
  const error = isRecord(body) && isRecord(body['error']) ? body['error'] : null;
  if (error === null) return null;
  const text = (field: string): string | null => (typeof error[field] === 'string' ? error[field] : null);
  const code = text('code');
  const knownStatus = status ?? statusOf(code);
  return new EngraftApiError(
    knownStatus,
    code ?? `http_${knownStatus}`,
    text('request_id') ?? requestId,
    text('param'),
    text('message') ?? `the server answered with status ${knownStatus}`,
    text('job_id'),
    text('status_url'),
  );
}

function statusOf(code: string | null): number {
  const known: Readonly<Record<string, { readonly status: number }>> = errorTable;
  return (code === null ? undefined : known[code]?.status) ?? 500;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
