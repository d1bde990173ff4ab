import { section, type Rule } from './rule.js';

/** Formats, fields and states. */
export const resourceRules: readonly Rule[] = [
  ...section('Identifier formats', 'format', [
    [
      '`subject_id`, `tenant_id`, `adapter_version`, header `X-Service-Tenant`: string matching `^[a-zA-Z0-9][a-zA-Z0-9_.:-]{0,127}$` (1-128 chars)',
      'identifiers match `^[a-zA-Z0-9][a-zA-Z0-9_.:-]{0,127}$`',
      'header `X-Service-Tenant` matches `^[a-zA-Z0-9][a-zA-Z0-9_.:-]{0,127}$`',
    ],
    [
      'header `Idempotency-Key`: string matching `^[a-zA-Z0-9][a-zA-Z0-9_.:-]{7,127}$` (8-128 chars)',
      '"`Idempotency-Key` (required)", matching `^[a-zA-Z0-9][a-zA-Z0-9_.:-]{7,127}$`',
    ],
    'message `name`, tool function `name`: string matching `^[a-zA-Z0-9_-]{1,64}$`',
    'tool call `id`: string, 1-128 chars',
    '`adapter_version` special value: `base` selects the clean base model',
    'Timestamps are ISO 8601 UTC strings.',
  ]),
  ...section('Admission receipt', 'receipt', ['`id`: durable job ID; `status_url`: path `/v1/jobs/<job_id>` to poll']),
  ...section('Job', 'job', [
    'Returned directly, not wrapped: `id`, `tenant_id`, `subject_id`, `kind`, `status`, `phase`, `adapter_version`, `usage`, `billing`, `result`, `error`, `created_at`, `updated_at`.',
    '`tenant_id`: tenant; `null` for the project namespace',
    [
      '`adapter_version`: version resolved at admission, or `base`; for learning jobs it is the parent version',
      'saves, activates and charges a learned version in one step',
    ],
    [
      '`usage.input_tokens`: recorded input tokens (for learning includes teacher, scoring and evaluation calls)',
      'charges an answer, releases the rest, and forgets the question',
      'crashes after every phase change nothing, and nothing is paid twice',
    ],
    '`usage.output_tokens`: recorded output tokens, including reasoning',
    '`usage.cached_input_tokens`: subset of input tokens',
    [
      '`usage.training_tokens`: every billed training exposure',
      'saves, activates and charges a learned version in one step',
      'crashes after every phase change nothing, and nothing is paid twice',
    ],
    '`billing.reserved_microusd`: original reservation, retained',
    '`billing.charged_microusd`: settled charge; final only when `billing.settled` is true',
    '`billing.compute_microusd`, `billing.storage_microusd`: breakdown of the settled charge',
    [
      '`error`: `code` (string) and `retryable` (boolean; currently always `false`)',
      'shows how a job ended: `error` has `code` and "`retryable` (currently always `false`)"',
    ],
    'Inference result (status `succeeded`): `text` (string), `finish_reason` (string)',
    'the output ceiling being reached can be reflected here, so success does not guarantee an untruncated answer',
    [
      'Learning result (status `ready`): `candidate.version_id`, `validation.passed`, `validation.passed_count`, `validation.total_count`, `activated`, `activation_conflict`.',
      'saves, activates and charges a learned version in one step',
      'learns a passage to a known end while it answers questions',
    ],
  ]),
  ...section('Job list item', 'job-item', [
    'Job list item (only these fields): `id`, `kind`, `status`, `phase`, `adapter_version`, `created_at`.',
  ]),
  ...section('Subject', 'subject', [
    '`active_version`: active version ID; `null` means the subject uses base',
    '`revision`: increments when activation changes the route; not a count of candidates',
    '`versions`: up to the 50 most recent saved versions, newest first',
    'Version element: `id`, `created_at`, `expires_at`, `validation.passed` (integer count, not boolean), `validation.total` (integer), `source_job` (the learning job that created it).',
    'A saved version can be inactive (activation disabled, lost a race, or another version activated later).',
    'Provider checkpoint paths and source passages are never exposed.',
  ]),
  ...section('Model catalogue entry', 'model', [
    [
      '`id` (string); `pricing` object: `version`, `input_usd_per_million_tokens`, `output_usd_per_million_tokens`, `cached_input_usd_per_million_tokens`, `training_usd_per_million_tokens`, `storage_usd_per_gb_month`, `internalization_fee_usd` (published as 0, no per-call learning fee).',
      '"Response `{ data: [model catalogue entry] }`; one entry with the one supported model", for "any valid key, no scope"',
    ],
    'Published rates: input 12 micro-USD per token, output 30, verified cached input 2.5 (cached tokens replace, not add to, ordinary input charge), training 36 USD per million tokens, hosting 0.3 USD per GB-month prorated by retained checkpoint size and time.',
  ]),
  ...section('Error envelope', 'envelope', [
    '`{ error: { code: string, retryable: boolean, request_id: string } }`',
    [
      'On the chat completions 409 after admission, `error` additionally carries `job_id` and `status_url`.',
      '"If the job is pending, failed or in reconciliation after admission, the response is 409 with `error.job_id`, `error.status_url`, `retryable: false`"',
    ],
  ]),
  ...section('Chat completion response', 'completion', [
    [
      'Required: `id` (string), `object` (`chat.completion`), `created` (integer), `model` (`model-5.3`), `choices` (array), `usage` (object).',
      '"`id`, `object` (`chat.completion`), `created` (integer), `model`, `choices`, `usage`" and "`service`: `job_id`, `subject_id`, resolved `adapter_version`"',
    ],
    '`choices[0].message` holds final text, `tool_calls`, or both; `finish_reason` is `stop`, `length` or `tool_calls`',
    'Extension object `service`: `job_id`, `subject_id`, resolved `adapter_version`.',
    ['Reasoning tokens count in usage; reasoning text is never returned.', 'leaves reasoning out and counts it'],
  ]),
  ...section('States of jobs', 'state', [
    [
      '`queued`: admission of an inference or learning job; job accepted; waiting for execution',
      'is a queued job with its reservation, price card and normalised request',
    ],
    ['`running`: worker executing', 'claims the oldest job once, however many workers ask'],
    [
      '`succeeded`: inference job completes; answer produced',
      'charges an answer, releases the rest, and forgets the question',
    ],
    [
      '`ready`: learning job completes; candidate saved and validated',
      'saves, activates and charges a learned version in one step',
    ],
    [
      '`rejected`: validation rejects the candidate; active version unchanged; completed compute is charged',
      'charges the computing of a rejected candidate and of an exhausted budget',
    ],
    [
      '`failed`: known terminal execution error (e.g. chat JSON validation failure with tokens consumed)',
      'charges the tokens of an answer that cannot be used',
    ],
    [
      '`reconciliation_required`: outcome or usage ambiguous (e.g. missing/inconsistent provider receipts); reservation held; preserve the job ID',
      'lets an operator settle a job whose outcome is unknown, and no other',
    ],
  ]),
  ...section('States of versions', 'route', [
    [
      'learning job with `activate` true, validation passed, parent unchanged: candidate active; `revision` increments; `result.activated` true',
      'saves, activates and charges a learned version in one step',
    ],
    [
      'learning job ready but another activation changed the parent during training: active version unchanged; candidate saved; `activation_conflict` true; `activated` false',
      'keeps a version that lost the race for activation, and one that was not to be activated',
    ],
    [
      'learning job with `activate` false: ready; active version unchanged; candidate retained',
      'keeps a version that lost the race for activation, and one that was not to be activated',
    ],
    '`expected_version_id` equals current active and target not expired: target active; `revision` increments (also when target is already active)',
    '`expected_version_id` differs from current active: unchanged; 409 `activation_conflict`',
    'retention deadline `expires_at` reached: version expired; pinning or activating it fails with `adapter_expired`',
    'An already-admitted job keeps the version snapshot resolved at admission even if another version activates afterwards.',
  ]),
];
