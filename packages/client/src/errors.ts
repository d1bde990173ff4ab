/** An answer of the service that is not a success. */
export class EngraftApiError extends Error {
  override readonly name = 'EngraftApiError';

  constructor(
    /** The HTTP status. */
    readonly status: number,
    /** One of the service's error codes; `http_<status>` when something else than the service answered. */
    readonly code: string,
    /** Name it when asking the operator; `null` when the answer had none. */
    readonly request_id: string | null,
    /** Path of the offending field, on 422. */
    readonly param: string | null,
    message: string,
  ) {
    super(message);
  }
}

/** No usable answer: the service could not be reached, or sent what its contract does not allow. */
export class EngraftConnectionError extends Error {
  override readonly name = 'EngraftConnectionError';
}

/** Reads the error envelope of the service, or makes do with the status when a proxy answered in its place. */
export async function readApiError(response: Response): Promise<EngraftApiError> {
  const { status } = response;
  const body: unknown = await response.json().catch(() => null);
  const error = isRecord(body) && isRecord(body['error']) ? body['error'] : {};
  const text = (field: string): string | null => (typeof error[field] === 'string' ? error[field] : null);
  return new EngraftApiError(
    status,
    text('code') ?? `http_${status}`,
    text('request_id') ?? response.headers.get('x-request-id'),
    text('param'),
    text('message') ?? `the server answered with status ${status}`,
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
