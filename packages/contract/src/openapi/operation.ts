import { errorEnvelope, errorTable, type ErrorCode } from '../errors.js';
import type { Scope } from '../scopes.js';
import { headerNames, type HeaderName, type ParameterName } from './parameters.js';
import type { MediaType, Operation, Response } from './types.js';
import type { SchemaName } from './descriptions.js';

/** An operation as `operations.ts` states it. What all operations share is added here. */
export interface OperationSource {
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  /** The key needs one of these. Empty if any valid key will do. */
  readonly anyScopeOf: readonly Scope[];
  readonly parameters: readonly ParameterName[];
  readonly body?: { readonly schema: SchemaName; readonly example: unknown };
  readonly responses: Readonly<Record<number, SuccessSource>>;
  /** Errors besides those that every operation has. */
  readonly errors: readonly ErrorCode[];
}

export interface SuccessSource {
  readonly description: string;
  readonly schema: SchemaName;
  readonly examples: Readonly<Record<string, unknown>>;
  readonly headers?: readonly HeaderName[];
  /** Given if the same answer may come as server-sent events. */
  readonly events?: string;
}

const errorsOfAll: readonly ErrorCode[] = [
  'unauthorized',
  'insufficient_scope',
  'server_keys_only',
  'invalid_request',
  'rate_limited',
  'internal_error',
  'service_unavailable',
];
/** Headers of every answer to a request that was counted. */
const counted: readonly HeaderName[] = ['RateLimit', 'RateRemaining', 'RateReset'];
const headersOfStatus: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ['Authenticate'],
  429: [...counted, 'RetryAfter'],
};

export function describeOperation(source: OperationSource): Operation {
  return {
    operationId: source.operationId,
    tags: [source.tag],
    summary: source.summary,
    description: `${source.description}\n\n${describeScopes(source.anyScopeOf)}`,
    security: [{ apiKey: [] }],
    parameters: source.parameters.map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ...(source.body === undefined ? {} : { requestBody: describeBody(source.body) }),
    responses: {
      ...mapRecord(source.responses, describeSuccess),
      ...describeErrors(source.anyScopeOf.length === 0, [...source.errors, ...errorsOfAll]),
    },
  };
}

function describeScopes(scopes: readonly Scope[]): string {
  if (scopes.length === 0) return 'Any valid key will do; no scope is needed.';
  return `Needs a key with the scope ${scopes.map((scope) => `\`${scope}\``).join(' or ')}.`;
}

function describeBody({
  schema,
  example,
}: NonNullable<OperationSource['body']>): NonNullable<Operation['requestBody']> {
  return {
    required: true,
    description:
      'JSON in UTF-8, at most 100,000 bytes. Unknown fields are refused, and so are a key that occurs twice in its object and a number beyond 2^53 that would not be kept exactly.',
    content: { 'application/json': { ...reference(schema), examples: { request: { value: example } } } },
  };
}

function describeSuccess({ description, schema, examples, headers = [], events }: SuccessSource): Response {
  const json: MediaType = { ...reference(schema), examples: mapRecord(examples, (value) => ({ value })) };
  const stream: MediaType = { schema: { type: 'string' }, examples: { stream: { value: events } } };
  return {
    description,
    headers: headerReferences([...counted, ...headers]),
    content: { 'application/json': json, ...(events === undefined ? {} : { 'text/event-stream': stream }) },
  };
}

/** One response for each status, with an example for each of its codes. */
function describeErrors(withoutScope: boolean, codes: readonly ErrorCode[]): Record<string, Response> {
  const possible = codes.filter((code) => !(withoutScope && code === 'insufficient_scope'));
  const statuses = [...new Set(possible.map((code) => errorTable[code].status))];
  return Object.fromEntries(
    statuses.map((status) => [
      String(status),
      describeError(
        status,
        possible.filter((code) => errorTable[code].status === status),
      ),
    ]),
  );
}

function describeError(status: number, codes: readonly ErrorCode[]): Response {
  const examples = Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code) }]));
  return {
    description: codes.map((code) => `\`${code}\`: ${errorTable[code].message}`).join('\n\n'),
    headers: headerReferences(['ShouldRetry', ...(headersOfStatus[status] ?? [])]),
    content: { 'application/json': { ...reference('Error'), examples } },
  };
}

function exampleOf(code: ErrorCode): unknown {
  const jobId = 'job_5KqTt1mO9vGdHc2LwYpRzX0a';
  return errorEnvelope(code, 'req_wN4rTb8QxKd1VfZs6LmYcHpJ', {
    ...(code.startsWith('job_') ? { job_id: jobId, status_url: `/v1/jobs/${jobId}` } : {}),
    ...(code === 'invalid_request'
      ? { message: 'Invalid verbose: this endpoint takes no query parameter of this name.', param: 'verbose' }
      : {}),
    ...(code === 'context_length_exceeded' ? { param: 'messages' } : {}),
  });
}

function headerReferences(names: readonly HeaderName[]): Response['headers'] {
  const all: readonly HeaderName[] = ['RequestId', ...names];
  return Object.fromEntries(all.map((name) => [headerNames[name], { $ref: `#/components/headers/${name}` }]));
}

function reference(schema: SchemaName): { schema: { $ref: string } } {
  return { schema: { $ref: `#/components/schemas/${schema}` } };
}

function mapRecord<From, To>(record: Readonly<Record<string, From>>, map: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}
