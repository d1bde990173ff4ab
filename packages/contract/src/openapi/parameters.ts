import { z } from 'zod';
import { idempotencyKey, identifier } from '../identifiers.js';
import { limits } from '../limits.js';
import type { Header, JsonSchema, Parameter } from './types.js';

/** Everything that travels beside the bodies. Header names are written as in the API document. */

function plain(schema: z.ZodType): JsonSchema {
  const converted = z.toJSONSchema(schema, { io: 'input' });
  delete converted.$schema;
  return converted as JsonSchema;
}

export const parameters = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: true,
    description:
      'Names the intent. The same key with the same input returns the job of the first request; with other input it is refused with 409. Keys live in one namespace per project and tenant, shared by all endpoints.',
    schema: plain(idempotencyKey),
  },
  OptionalIdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'As on the native endpoints; strongly recommended. When it is left out, one is generated and returned in the header of the same name.',
    schema: plain(idempotencyKey),
  },
  Tenant: {
    name: 'X-Service-Tenant',
    in: 'header',
    required: false,
    description:
      'The tenant. Left out: the tenant that the key is restricted to, or the project namespace. It must agree with `tenant_id` of the body and with the key.',
    schema: plain(identifier),
  },
  Subject: {
    name: 'X-Service-Subject',
    in: 'header',
    required: false,
    description: 'The subject, in place of `subject_id` in the body; equal to it when both are given.',
    schema: plain(identifier),
  },
  JobId: {
    name: 'id',
    in: 'path',
    required: true,
    description: 'The job ID out of a receipt.',
    schema: { type: 'string' },
  },
  Limit: {
    name: 'limit',
    in: 'query',
    required: false,
    description: 'How many jobs a page has at most.',
    schema: {
      type: 'integer',
      minimum: limits.minJobsPage,
      maximum: limits.maxJobsPage,
      default: limits.defaultJobsPage,
    },
  },
  Cursor: {
    name: 'cursor',
    in: 'query',
    required: false,
    description: '`next_cursor` of the page before, URL-encoded. Anything else is refused with 422.',
    schema: { type: 'string' },
  },
} as const satisfies Record<string, Parameter>;

export type ParameterName = keyof typeof parameters;

const text: JsonSchema = { type: 'string' };
const count: JsonSchema = { type: 'integer', minimum: 0 };

export const headers = {
  RequestId: {
    description:
      'Names this request, also in the logs where it has a line there; `error.request_id` is the same. On every response.',
    schema: text,
  },
  RateLimit: {
    description:
      "Requests per minute that the key's project allows each of its keys; without a valid key, of its address at once.",
    schema: count,
  },
  RateRemaining: { description: 'Requests that would be taken at once.', schema: count },
  RateReset: { description: 'Until the whole limit is free again, such as `120ms` or `1.5s`.', schema: text },
  RetryAfter: { description: 'Seconds to wait before the next attempt.', schema: { type: 'integer', minimum: 1 } },
  JobId: { description: 'The job that produced this completion.', schema: text },
  UsedIdempotencyKey: {
    description: 'The idempotency key, the one sent or the one generated.',
    schema: plain(idempotencyKey),
  },
  Allow: { description: 'The methods that this path takes.', schema: text },
  ShouldRetry: {
    description:
      'As `error.retryable`, for clients that would else repeat every 409 and 5xx. It is `false`, too, for a 5xx of a ' +
      'chat without an `Idempotency-Key`: repeating it would make a new job.',
    schema: { type: 'string', enum: ['true', 'false'] },
  },
  Authenticate: { description: 'Always `Bearer`.', schema: text },
} as const satisfies Record<string, Header>;

export type HeaderName = keyof typeof headers;

/** The name under which each header travels. */
export const headerNames: Readonly<Record<HeaderName, string>> = {
  RequestId: 'X-Request-Id',
  RateLimit: 'x-ratelimit-limit-requests',
  RateRemaining: 'x-ratelimit-remaining-requests',
  RateReset: 'x-ratelimit-reset-requests',
  RetryAfter: 'Retry-After',
  JobId: 'X-Service-Job-Id',
  UsedIdempotencyKey: 'Idempotency-Key',
  Allow: 'Allow',
  ShouldRetry: 'X-Should-Retry',
  Authenticate: 'WWW-Authenticate',
};
