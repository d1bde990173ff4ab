import { section, type Rule } from './rule.js';

/** Statuses, codes and limits. */
export const errorRules: readonly Rule[] = [
  ...section('Errors', 'error', [
    ['401: invalid or revoked key', '"Invalid, expired or revoked key: 401 `unauthorized`."'],
    [
      '402: insufficient credits or spending limit reached',
      '402 `insufficient_credits`',
      '402 `spending_limit_reached`: "project\'s monthly spending limit would be passed"',
    ],
    [
      '403: insufficient scope, browser key usage, or preview-only execution',
      '"Missing scope: 403 `insufficient_scope`."',
      '"A request carrying an `Origin` header is rejected with code `server_keys_only`", before the key is looked at',
      '"hosted preview: model work is switched off": 403 `execution_unavailable`; no engine: 503 `not_configured`',
    ],
    [
      '409: conflict or expired adapter; idempotency-key reuse with changed input',
      '"Learning or inference on a subject whose active version has expired: 409 `adapter_expired`"',
    ],
    [
      '409, for chat: pending/failed/reconciliation after admission (with `job_id`, `status_url`; inspect that job before retrying)',
      '"If the job is pending, failed or in reconciliation after admission, the response is 409 with `error.job_id`, `error.status_url`, `retryable: false`"',
    ],
    '413: request body exceeds 100,000 bytes',
    [
      '422: invalid request (includes unsupported or unknown fields, mismatching tenant or subject values)',
      '"422 `invalid_request`: anything malformed"',
      '"When both are present they must match": 422',
      '"`subject_id` or `X-Service-Subject` selects an adapted route"; both "must be equal"',
    ],
    '429: rate limited',
    [
      '500: unexpected server error; preserve request ID and operation identity',
      '500 `internal_error`: "logged with the request id, nothing of the internals in the body"',
    ],
    [
      '503: not configured or unavailable',
      '"hosted preview: model work is switched off": 403 `execution_unavailable`; no engine: 503 `not_configured`',
      'a database that nobody answers for is 503 and retryable, never 500 with internals',
    ],
    "a failed job has `error.code` and `error.retryable` (currently false); this is distinct from the HTTP envelope's `retryable`",
  ]),
  ...section('Limits', 'limit', [
    ['HTTP request body: 100,000 bytes', '"413: request body exceeds 100,000 bytes"'],
    ['messages per request: 1-64', 'messages: "1-64 items", each "at most 16,000 units"'],
    [
      'serialized messages plus tools: 64,000 string-length units',
      '"Serialized messages and tools together must fit 64,000 string-length units."',
      '"serialized messages and tools: 64,000", "of the values as parsed"',
    ],
    "one message's text: 16,000 units",
    'function argument string: 16,000 units',
    'tools per request: up to 32 (unique names)',
    [
      'tool calls per native message: 1-16',
      '"`messages[].tool_calls`: 1-16 items of `{id, type: function, function: {name, arguments}}`; `arguments` string at most 16,000"',
      'more calls in one message than the native limit of 16',
    ],
    'tool description: 8,000 chars',
    'output tokens (`max_output_tokens`, `max_completion_tokens`, `max_tokens`): 1-4096, default 2048, includes reasoning',
    'learning `content`: 20-16,000 chars',
    'learning `max_cost_microusd`: 1,000,000-100,000,000',
    [
      'initial hosting covered by a learning reservation: 24 hours',
      'saves, activates and charges a learned version in one step',
    ],
    ['job list `limit`: 1-100, default 50', '`limit`: "integer 1-100, default 50"'],
    ['subjects per listing / versions per subject: 100 / 50 most recent', '"up to 100 subjects and 50 versions each"'],
    [
      'non-revoked keys per project: 50',
      '"At most 50 non-revoked keys exist per project (expired keys count until revoked)."',
    ],
    ['chat HTTP wait: about four minutes', 'a chat completion waits 240 seconds unless told'],
    [
      "Also enforced: the model's tokenizer context ceiling before paid execution",
      '422 `context_length_exceeded`',
      'nothing when "the rendered prompt leaves no room for one output token"',
    ],
    [
      'Also enforced: available balance and monthly capacity at admission of learning.',
      '402 `insufficient_credits`: "available balance below the reservation"; the exact amount is enough',
      '402 `monthly_capacity_reached`: "project\'s monthly learning capacity would be passed", by learning alone',
    ],
  ]),
];
