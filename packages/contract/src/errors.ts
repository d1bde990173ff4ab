/**
 * The one table of errors that leave the service over HTTP: code → status, `retryable`, and a sentence for a person. No
 * other file combines a status with a code.
 */
export const errorTable = {
  unauthorized: {
    status: 401,
    retryable: false,
    message: 'The API key is missing, malformed, unknown, expired or revoked. Send one as Authorization: Bearer KEY.',
  },
  insufficient_credits: {
    status: 402,
    retryable: false,
    message: 'The available balance is below what this request reserves.',
  },
  spending_limit_reached: {
    status: 402,
    retryable: false,
    message: "The project's monthly spending limit would be passed.",
  },
  monthly_capacity_reached: {
    status: 402,
    retryable: false,
    message: "The project's monthly learning capacity would be passed.",
  },
  insufficient_scope: { status: 403, retryable: false, message: 'The API key lacks the scope for this request.' },
  server_keys_only: {
    status: 403,
    retryable: false,
    message: 'API keys are for servers, so a request with an Origin header is refused. Call from your server.',
  },
  execution_unavailable: { status: 403, retryable: false, message: 'Model work is switched off on this service.' },
  not_found: { status: 404, retryable: false, message: 'There is nothing here under that name.' },
  method_not_allowed: {
    status: 405,
    retryable: false,
    message: 'This path does not take that method. The header Allow names those that it takes.',
  },
  activation_conflict: {
    status: 409,
    retryable: false,
    message: 'The active version is not the expected one; nothing was changed. GET /v1/subjects says which it is.',
  },
  adapter_expired: {
    status: 409,
    retryable: false,
    message: 'The adapter version is past its retention deadline. Name another version, or base.',
  },
  base_model_changed: {
    status: 409,
    retryable: false,
    message:
      'The adapter version was trained on another base model than the service has now. Learn its passages again.',
  },
  idempotency_conflict: {
    status: 409,
    retryable: false,
    message: 'This idempotency key was used before with other input. Send new input with a new key.',
  },
  job_pending: { status: 409, retryable: false, message: 'The job is not done yet; read it at status_url.' },
  job_failed: { status: 409, retryable: false, message: 'The job failed; read it at status_url before retrying.' },
  job_reconciliation_required: {
    status: 409,
    retryable: false,
    message: 'The outcome of the job is not known yet; keep its ID and read it at status_url.',
  },
  payload_too_large: { status: 413, retryable: false, message: 'The request body is over 100,000 bytes.' },
  invalid_request: { status: 422, retryable: false, message: 'The request is not valid.' },
  context_length_exceeded: {
    status: 422,
    retryable: false,
    message: "The prompt leaves no room for one output token in the model's context. Send less text.",
  },
  queue_full: {
    status: 429,
    retryable: true,
    message: 'There are as many open jobs as there may be; nothing was admitted. Wait as Retry-After says.',
  },
  rate_limited: {
    status: 429,
    retryable: true,
    message: 'Too many requests with this key, or without a valid key from this address; wait as Retry-After says.',
  },
  internal_error: { status: 500, retryable: false, message: 'Something unexpected went wrong; keep the request ID.' },
  not_configured: {
    status: 503,
    retryable: true,
    message: 'No model or engine is configured. The log of the service says why.',
  },
  service_unavailable: {
    status: 503,
    retryable: true,
    message: 'The service cannot take requests at the moment. Try again later.',
  },
} as const satisfies Record<string, { status: number; retryable: boolean; message: string }>;

export type ErrorCode = keyof typeof errorTable;

/** `error.code` of a job that ended `failed`, `rejected` or `reconciliation_required`. */
export const jobErrorCodes = [
  'invalid_json_output',
  'invalid_tool_call',
  'validation_failed',
  'budget_exhausted',
  'engine_failed',
  'adapter_expired',
  /** The files of the version are damaged or missing. Nothing is charged, and nothing falls back to base. */
  'adapter_damaged',
  /** The files of the version could not be fetched from where they are kept. Nothing is charged; ask again later. */
  'adapter_unavailable',
  /**
   * The version, or what learning has stored so far, belongs to another base model than the worker's. Nothing is
   * charged.
   */
  'base_model_changed',
  /** An operator ended the job. Nothing is charged. */
  'cancelled',
  'internal_error',
  'receipt_missing',
  'receipt_inconsistent',
] as const;
export type JobErrorCode = (typeof jobErrorCodes)[number];

export interface ErrorEnvelope {
  readonly error: {
    readonly code: ErrorCode;
    readonly retryable: boolean;
    readonly request_id: string;
    /** For people, never to be parsed. */
    readonly message: string;
    /** Path of the offending field, on 422. */
    readonly param?: string;
    /** Given after admission, on chat completions. */
    readonly job_id?: string;
    readonly status_url?: string;
  };
}

export interface ErrorDetails {
  readonly message?: string;
  readonly param?: string;
  readonly job_id?: string;
  readonly status_url?: string;
}

/** The only exception that the HTTP layer turns into a response other than 500. */
export class ApiError extends Error {
  constructor(
    readonly code: ErrorCode,
    readonly details: ErrorDetails = {},
  ) {
    super(details.message ?? errorTable[code].message);
    this.name = 'ApiError';
  }

  get status(): number {
    return errorTable[this.code].status;
  }
}

/** The body of an error response. `request_id` equals the `X-Request-Id` header. */
export function errorEnvelope(code: ErrorCode, requestId: string, details: ErrorDetails = {}): ErrorEnvelope {
  const { retryable, message } = errorTable[code];
  return { error: { code, retryable, request_id: requestId, message, ...details } };
}
