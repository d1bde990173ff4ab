import { section, type Rule } from './rule.js';

/** The native endpoints, and idempotency. */
export const endpointRules: readonly Rule[] = [
  ...section('Endpoints', 'endpoints', [
    'All model-work and read endpoints require `Authorization: Bearer <API_KEY>`.',
    'JSON bodies use `Content-Type: application/json`.',
    [
      'Summary: eight endpoints, each with its method, path, scope and result',
      'has the eight endpoints, each with its scope, its key and its error statuses',
      'each endpoint takes a key with its scope alone, and no key with all the others',
    ],
  ]),
  ...section('POST /v1/inferences', 'inference', [
    'Headers: `Idempotency-Key` (required), `X-Service-Tenant` (optional).',
    'Body (unknown fields rejected)',
    '`adapter_version`: retained version of this subject, or `base`; omitted means the active version',
    '`messages`: 1-64 items; final turn must be a user message or a completed tool-result block',
    '`messages[].role`: `system`, `user`, `assistant`, `tool`',
    '`messages[].content`: at most 16,000 units; may be empty for tool-call messages or tool results',
    ['`messages[].name`: name format', 'identifiers match `^[a-zA-Z0-9][a-zA-Z0-9_.:-]{0,127}$`'],
    '`messages[].tool_calls`: 1-16 items of `{id, type: function, function: {name, arguments}}`; `arguments` string at most 16,000',
    '`messages[].tool_call_id`: 1-128 chars',
    '`tools`: up to 32 items `{type: function, function: {name, description (max 8,000), parameters (object, default empty-properties object), strict (only false)}}`',
    '`tool_choice`: `auto`, `none`, `required`, or `{type: function, function: {name}}`',
    '`parallel_tool_calls`: boolean',
    '`response_format`: `{type}` with `text` or `json_object`',
    '`max_output_tokens`: integer 1-4096, default 2048, includes reasoning',
    '`temperature`: number 0-1, default 0',
    'Serialized messages and tools together must fit 64,000 string-length units.',
    'Images, audio, `model` and `stream` are not accepted.',
    'No conversation is stored between calls; the caller sends any history.',
    'Responses: 202 new job (receipt); 200 identical replay (receipt, same shape).',
    'A new subject starts from base.',
    'An existing subject whose active adapter has expired fails with `adapter_expired`; there is no automatic fallback.',
    [
      'admission reserves a conservative input bound plus the maximum output allowance; settlement uses measured tokens and releases the unused reservation',
      'charges an answer, releases the rest, and forgets the question',
    ],
    [
      'If generation occurred but extraction of the answer failed, known usage can still be charged.',
      'charges the tokens of an answer that cannot be used',
    ],
  ]),
  ...section('POST /v1/internalizations', 'learning', [
    '`content`: 20-16,000 chars; self-contained text, not a file, URL, message array or embedding',
    '`max_cost_microusd`: 1,000,000-100,000,000; caps compute plus initial 24-hour hosting',
    [
      '`max_cost_microusd` caps compute plus initial 24-hour hosting: whatever a job does, it is charged no more',
      'the cap is never passed, however small',
      'whatever is called, the cap is never passed',
    ],
    '`activate`: default `true`; attempt activation after validation',
    'No model selector, hyperparameters, custom validation arrays or extra metadata fields are accepted.',
    [
      'Responses: 202 new job, 200 identical replay (receipt shape).',
      '"Responses: 202 new job (receipt); 200 identical replay (receipt, same shape)."',
    ],
    "Admission reserves `max_cost_microusd`, captures the subject's active version as parent (or `base`), and requires sufficient available balance and monthly capacity.",
    'A retained candidate can be evaluated before activation by pinning its `adapter_version` for the same tenant and subject in inference.',
    ['Charges: no fixed fee.', 'saves, activates and charges a learned version in one step'],
    [
      'Completed compute is charged for rejected candidates, budget exhaustion and other known outcomes',
      'charges the computing of a rejected candidate and of an exhausted budget',
    ],
    ["the service's own infrastructure failures are waived", 'waives a failure of ours, whatever was counted before'],
    [
      'a ready candidate also incurs verified hosting even when activation was disabled or conflicted',
      'keeps a version that lost the race for activation, and one that was not to be activated',
    ],
  ]),
  ...section('GET /v1/jobs/{id}', 'read-job', [
    'Returns the job object.',
    'Unknown job or a job of another project: error `not_found`.',
    'Repeat `X-Service-Tenant` for tenant jobs or use a tenant-restricted key.',
    'A key with `inference` or `internalize` can read jobs it submitted under that scope; other keys need `read` in the same tenant.',
  ]),
  ...section('GET /v1/jobs', 'list-jobs', [
    'Query: `limit` (integer 1-100, default 50), `cursor` (string from `next_cursor`, URL-encoded).',
    'Response: `{ data: [job list item], next_cursor: string or null }`, newest first; continue until `next_cursor` is null.',
    [
      'No filters by kind, subject, date or status.',
      '"Query parameters that an endpoint does not define are refused with 422 rather than ignored; so is an invalid cursor."',
    ],
  ]),
  ...section('GET /v1/subjects', 'list-subjects', [
    [
      'No query parameters, no pagination.',
      '"that an endpoint does not define are refused with 422 rather than ignored"',
    ],
    "Response `{ data: [subject] }` with up to 100 subjects and 50 versions each, for the selected tenant (header `X-Service-Tenant`, the restricted key's tenant, or the project namespace).",
  ]),
  ...section('POST /v1/adapters/activate', 'activate', [
    'Synchronous; starts no job; does not use the idempotency mechanism.',
    '`version_id` (string, required; candidate in the authenticated project)',
    '`expected_version_id` (string or JSON `null`, required; `null` when the subject is on base; the string `base` is not a substitute)',
    "Do not send `subject_id`; the subject comes from the candidate's owner.",
    'Response 200: `{ version_id: string, revision: integer }`.',
    'No extra fee.',
    '409 `activation_conflict` (expected value differs from current active; routing unchanged)',
    '`adapter_expired` (candidate expired)',
    '`not_found` (unknown or foreign-project version)',
    'Rollback is done by activating a retained, non-expired older version with the current version as expected value.',
  ]),
  ...section('GET /v1/models', 'models', [
    'Any valid key, no scope; starts no work and reserves nothing.',
    'Response `{ data: [model catalogue entry] }`; one entry with the one supported model.',
  ]),
  ...section('Idempotency', 'idempotency', [
    'Scope: project plus tenant.',
    'Same key, same namespace and same normalized input: original job returned (200 receipt on native endpoints).',
    'Same key with changed input, or a different key/credential on the same intent in chat: 409.',
    'After a failed connection, recover with the same key and payload and poll the original job.',
  ]),
];
