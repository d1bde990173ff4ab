import { section, type Rule } from './rule.js';

/** Questions that the contract leaves open, as this service settles it. */
export const decisionRules: readonly Rule[] = [
  ...section('Decisions: errors', 'decided-error', [
    'The envelope always carries `code`, `retryable` and `request_id`.',
    '`message` (a sentence for a person, never to be parsed) always, and `param` (path of the offending field) on 422',
    '`request_id` equals the `X-Request-Id` response header, which every response carries.',
    [
      '401 `unauthorized`: missing, malformed, unknown, expired or revoked key',
      '"Every `/v1` request carries `Authorization: Bearer <API_KEY>`": missing or malformed is 401 `unauthorized`',
      '"Invalid, expired or revoked key: 401 `unauthorized`."',
    ],
    '402 `insufficient_credits`: available balance below the reservation',
    "402 `spending_limit_reached`: project's monthly spending limit would be passed",
    "402 `monthly_capacity_reached`: project's monthly learning capacity would be passed",
    [
      '403 `server_keys_only`: any request with an `Origin` header',
      '"A request carrying an `Origin` header is rejected with code `server_keys_only`", before the key is looked at',
    ],
    '403 `execution_unavailable`: hosted preview: model work is switched off',
    '404 `not_found`: unknown path; unknown, foreign-project or other-tenant job or version',
    '405 `method_not_allowed`: known path, other method; with `Allow`',
    '409 `adapter_expired`: pinned, active or target version is past its deadline',
    '409 `idempotency_conflict`: same key with changed input; in chat also the same key from another API key',
    [
      '409 `job_pending`, `job_failed`, `job_reconciliation_required`: chat only, after admission, with `job_id` and `status_url`',
      '"If the job is pending, failed or in reconciliation after admission, the response is 409 with `error.job_id`, `error.status_url`, `retryable: false`"',
    ],
    '413 `payload_too_large`: body over 100,000 bytes (counted while reading, whatever Content-Length says)',
    '422 `invalid_request`: anything malformed: JSON syntax, content type, unknown field, range, tenant or subject mismatch, unsupported feature',
    '422 `context_length_exceeded`: the rendered prompt leaves no room for one output token',
    '429 `queue_full`: the project, or the service, has as many open jobs as it may; with `Retry-After`',
    '429 `rate_limited`: with `Retry-After` and the `x-ratelimit-*` headers that OpenAI clients read',
    '500 `internal_error`: unexpected; logged with the request id, nothing of the internals in the body',
    [
      '503 `not_configured`, `service_unavailable`: no model or engine; database down; shutting down',
      '"hosted preview: model work is switched off": 403 `execution_unavailable`; no engine: 503 `not_configured`',
      '"503 `service_unavailable`: database down; shutting down"',
    ],
    [
      'A `rejected` learning job has both: `result` with its `validation` (no `candidate`, `activated` and `activation_conflict` false) and `error.code` `validation_failed`.',
      'charges the computing of a rejected candidate and of an exhausted budget',
    ],
    'request id → Origin → key → scope → rate → body size → syntax and schema → tenant and subject agreement → idempotent replay → execution switched off → version resolution → context ceiling → money',
    'an identical replay succeeds even when the balance is now empty, the version expired or execution is switched off',
    [
      'Everything from the replay check to the job row is one database transaction.',
      'leaves no trace: no job, no subject, no money held, and its key stays free',
    ],
  ]),
  ...section('Decisions: reading requests', 'decided-reading', [
    "Lengths are UTF-16 code units (JavaScript's `length`).",
    [
      'The 64,000 ceiling is `JSON.stringify(messages).length` plus, when tools are given, `JSON.stringify(tools).length`, of the values as parsed.',
      'tools count as they were sent, before their defaults; empty `tools` means none',
    ],
    'An explicit `null` is refused (422) where the contract does not name it',
    'except in chat completions, where `null` for an optional field, of the body or of a message, means "omitted", as OpenAI\'s clients send it',
    '`refusal`, `annotations`, `audio` and `function_call` of a message, which clients send back, are dropped when they are null or empty and refused otherwise',
    "`index` and `parsed_arguments` of a message's tool call are dropped.",
    'A key that occurs twice in an object is refused.',
    [
      'Empty `tools` means none; an empty string is valid content.',
      'tools count as they were sent, before their defaults; empty `tools` means none',
    ],
    'The content of a system, developer or user message is not empty ("may be empty for tool-call messages or tool results").',
    'Query parameters that an endpoint does not define are refused with 422 rather than ignored; so is an invalid cursor.',
    'call ids are unique over the whole conversation',
    'an assistant message with calls is followed at once by exactly one result for each (any order, nothing between)',
    '`arguments` is the text of a JSON object',
    '`expected_version_id: "base"` is an ordinary string that never equals the active version: 409 `activation_conflict`.',
  ]),
  ...section('Decisions: tenants, subjects, versions', 'decided-subject', [
    'A tenant-restricted key asked for another tenant: 422. Body and header that differ: 422.',
    "an unrestricted key without a tenant never sees tenants' jobs or subjects",
    "Chat without a subject: the job's `subject_id` and `service.subject_id` read `default`, the version is `base`, and no subject is created.",
    'A version that exists but belongs to another subject, tenant or project answers exactly like one that does not exist: 404.',
    'Learning or inference on a subject whose active version has expired: 409 `adapter_expired`.',
    'Subjects are listed most recently changed first.',
    '`revision` starts at 0.',
    'An expired version stays listed with its past `expires_at`; an expired active version stays the active one (its id is still the `expected_version_id`) until another is activated.',
    'Version ids are opaque and unguessable.',
  ]),
  ...section('Decisions: idempotency', 'decided-idempotency', [
    'The fingerprint is taken over the input after normalisation: defaults filled in, `max_tokens` read as `max_completion_tokens`, `developer` as `system`, a text-part array joined to a string, the tenant and subject as resolved; `adapter_version` as sent.',
    '`stream` and `stream_options` are transport and stay out of it, so a client that lost its stream can fetch the same job as JSON.',
    'Both native endpoints and chat share one namespace per project and tenant; the endpoint is part of the fingerprint, so one key on two endpoints is a conflict.',
    'Two simultaneous identical requests admit one job.',
  ]),
  ...section('Decisions: jobs', 'decided-job', [
    [
      '`phase` for inference: `queued`, `generating`, `validating`, `settling`, `done`. For learning: `queued`, `teaching`, `scoring`, `training`, `evaluating`, `saving`, `settling`, `done`.',
      'learns a passage to a known end while it answers questions',
      'fails an answer that is no JSON object where one was asked for, with its tokens charged',
    ],
    'Native `finish_reason`: `stop`, `length`, `tool_calls`; with `tool_calls` the result also has `tool_calls`.',
    [
      'A learning result also has `validation.base_passed_count`, `validation.retention_passed_count` and `validation.retention_total_count`, and `training.steps`, `training.tokens`, `training.final_loss`.',
      'saves, activates and charges a learned version in one step',
      'learns a passage to a known end while it answers questions',
    ],
    [
      'work lost to a crash is repeated and the loss is waived',
      'ends a learning job that was killed in every phase, and charges each once',
    ],
    [
      'An operator settles such a job by hand (`engraft job resolve`), which is recorded.',
      'lets an operator settle a job whose outcome is unknown, and no other',
    ],
    'a key without `read` sees the jobs it submitted under its scopes and gets 403 `insufficient_scope` for any other id, existing or not',
    'A key with `read` gets 404 for jobs outside its tenant and project.',
  ]),
  ...section('Decisions: money', 'decided-money', [
    'compute and storage are each summed in nano-USD and rounded up once; the charge is their sum',
    'a reservation is a pending transfer that is later posted (up to its amount) or voided',
    "The sum over all accounts is zero at every moment, and no project's available balance is ever negative",
    [
      '`charged = compute + storage ≤ reserved` for every job.',
      'enough: `charged = compute + storage ≤ reserved` whatever the model then uses',
    ],
    [
      'After that each retained version is charged a day in advance and its `expires_at` moves on by that day',
      'charges a day in advance and moves the deadline on by that day, once',
      'makes good a deadline that passed while nobody was there, by whole days, charged once',
    ],
    [
      "while the project's `version_retention_days` (default 30; an active version renews beyond it) and the balance allow",
      'lets a version expire after the retention of its project, unless it is active',
      'lets a version expire that its project cannot pay for',
      'charges nothing for a deadline that the balance cannot make good, and credit that comes later changes nothing',
    ],
    [
      'its files are deleted 7 days later. The row stays.',
      'deletes the files a week after the deadline, and keeps the row',
    ],
    '`requests_per_minute` per key (default 600)',
  ]),
  ...section('Decisions: inference', 'decided-inference', [
    'The reservation is the exact token count of the rendered prompt at the input rate plus the effective output ceiling at the output rate',
    "that ceiling is the smaller of the request's and what the context leaves, and reaching it finishes with `length`",
    [
      'A tool call cut off by the ceiling is dropped: `finish_reason` `length`, the text before it kept.',
      'tool calls in the output',
    ],
    [
      '`cached_input_tokens` counts prompt tokens whose attention state was really reused from an earlier request of the same project, tenant and adapter, never across them.',
      '"counts prompt tokens whose attention state was really reused from an earlier request of the same project, tenant and adapter"',
    ],
    [
      '`temperature` 0 is greedy and repeatable for the same prompt and version, alone or in a batch.',
      'greedy output is the same alone and in any mixture of rows',
    ],
    'a call to an unknown function, or arguments that are not a JSON object, fail the job (`invalid_tool_call`) with the tokens charged',
    [
      '`tool_choice: required` or a named function forces the opening of a call',
      'a forced call begins the output and counts',
    ],
    ['`parallel_tool_calls: false` stops after one.', 'ends with the first call when there may be only one'],
    [
      "Chat `usage` has OpenAI's fields: `prompt_tokens`, `completion_tokens`, `total_tokens`, `prompt_tokens_details.cached_tokens`, `completion_tokens_details.reasoning_tokens`.",
      '"`id`, `object` (`chat.completion`), `created` (integer), `model`, `choices`, `usage`" and "`service`: `job_id`, `subject_id`, resolved `adapter_version`"',
    ],
    ['Waiting for a chat job: 240 s, configurable.', 'a chat completion waits 240 seconds unless told'],
    ['A keepalive comment at least every 10 s.', '"keepalive comments while the job runs", the first at once'],
  ]),
];
