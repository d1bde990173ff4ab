import {
  ApiError,
  errorEnvelope,
  errorTable,
  type ErrorCode,
  type ErrorDetails,
  type ErrorEnvelope,
} from '@engraft/contract';
import { EngineError, type EngineErrorCode } from '@engraft/engine';
import type { AdmissionOutcome, Shortfall } from '../admission/admitJob.js';
import { isDatabaseUnavailable } from '../db/databaseErrors.js';
import { wrongContentType } from './readBody.js';

/** Errors of the engine that are not unexpected ones of ours. */
const engineErrors: Partial<Record<EngineErrorCode, ErrorCode>> = {
  context_length_exceeded: 'context_length_exceeded',
  invalid_request: 'invalid_request',
  checkpoint_invalid: 'not_configured',
  process_lost: 'service_unavailable',
};

/**
 * The one place where an exception becomes an error of the contract's table. An unknown one becomes `internal_error`.
 */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (isDatabaseUnavailable(error)) return new ApiError('service_unavailable');
  if (error instanceof EngineError) return new ApiError(engineErrors[error.code] ?? 'internal_error', detailsOf(error));
  if (isRefusedByFastify(error, 'FST_ERR_CTP_INVALID_MEDIA_TYPE')) return wrongContentType();
  if (isRefusedByFastify(error)) return new ApiError('invalid_request', { message: 'The request is malformed.' });
  return new ApiError('internal_error');
}

/**
 * Before admission, only the messages of a request reach the engine. A template may refuse them, for example because
 * they do not take turns, and says so in the engine's message.
 */
function detailsOf({ code, message }: EngineError): ErrorDetails {
  if (code !== 'invalid_request') return {};
  return { param: 'messages', message: `The model cannot read this conversation: ${message}` };
}

export function refusalOf(outcome: Extract<AdmissionOutcome, { readonly kind: 'refused' }>): ApiError {
  switch (outcome.code) {
    case 'idempotency_key_of_another':
      return new ApiError('idempotency_conflict', {
        message:
          'This idempotency key was used before by another API key; answers in chat belong to the key that asked.',
      });
    case 'not_found':
      return new ApiError('not_found', {
        message: 'The subject has no version with this adapter_version; GET /v1/subjects lists those that it has.',
      });
    case 'insufficient_credits':
    case 'spending_limit_reached':
    case 'monthly_capacity_reached':
      return new ApiError(outcome.code, { message: shortOf(outcome) });
    case 'project_queue_full':
    case 'service_queue_full': {
      const whose = outcome.code === 'project_queue_full' ? 'The project' : 'The service';
      return new ApiError('queue_full', {
        message: `${whose} has as many open jobs as it may; nothing was admitted. Wait as Retry-After says.`,
      });
    }
    case 'context_length_exceeded':
      return new ApiError(outcome.code, { param: 'messages' });
    default:
      return new ApiError(outcome.code);
  }
}

/** Adds to the sentence of the table how much a request needs and how much is left. */
function shortOf({ code, needed_microusd, left_microusd }: Shortfall): string {
  const usd = (microusd: number): string => `${(microusd / 1_000_000).toFixed(6).replace(/0{1,4}$/, '')} USD`;
  const where = code === 'insufficient_credits' ? 'is available' : 'is left this month';
  const left = usd(Math.max(0, left_microusd));
  return `${errorTable[code].message} It reserves ${usd(needed_microusd)}; ${left} ${where}.`;
}

export function envelopeOf(error: ApiError, requestId: string): ErrorEnvelope {
  return errorEnvelope(error.code, requestId, error.details);
}

/** A request that the framework could not read, for the reason in its code. */
function isRefusedByFastify(error: unknown, code = 'FST_ERR_'): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    error.code.startsWith(code) &&
    'statusCode' in error &&
    typeof error.statusCode === 'number' &&
    error.statusCode < 500
  );
}
