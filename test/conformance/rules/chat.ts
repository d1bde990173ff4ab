import { section, type Rule } from './rule.js';

export const chatRules: readonly Rule[] = [
  ...section('POST /v1/chat/completions: request', 'chat', [
    [
      'Headers: `Idempotency-Key` (optional, strongly recommended), `X-Service-Tenant` (optional), `X-Service-Subject` (optional; must equal `subject_id` when both are given).',
      '"If `Idempotency-Key` is omitted the gateway generates one and returns it in the header."',
      '"`subject_id` or `X-Service-Subject` selects an adapted route"; both "must be equal"',
    ],
    'Body (unknown fields rejected), on chat completions',
    '`model`: required; only `model-5.3`',
    '`messages[].role`: `system`, `developer`, `user`, `assistant`, `tool` (`developer` is treated as `system`)',
    '`messages[].content`: string, array of `{type: text, text}`, or null',
    'null allowed for assistant messages carrying function calls',
    '`messages[].tool_calls`: items `{id (1-128), type: function, function: {name, arguments (string, at most 16,000, JSON object text)}}`',
    [
      "`subject_id`: optional; routes through that subject's active adapter",
      '"`subject_id` or `X-Service-Subject` selects an adapted route"; both "must be equal"',
    ],
    'omission selects base even if a subject named `default` has versions',
    '`adapter_version`: optional retained version or `base`; non-base pinning requires a subject',
    '`max_completion_tokens`: 1-4096, default 2048, includes reasoning',
    '`max_tokens`: 1-4096; legacy alias; do not send together with `max_completion_tokens`',
    ['`temperature`: 0-1, default 0, on chat completions', '`n`: "only 1"; `temperature`: "0-1, default 0"'],
    ['`n`: only 1', '`n`: "only 1"; `temperature`: "0-1, default 0"'],
    '`tools`: up to 32 function definitions, unique names (same item shape as native inference)',
    [
      '`parallel_tool_calls`: false permits at most one returned call',
      'ends with the first call when there may be only one',
    ],
    '`response_format`: JSON is validated after generation, not constrained; invalid JSON yields a failed job with consumed tokens charged',
    '`stream`: default false; true returns buffered SSE',
    '`stream_options.include_usage`: adds a final usage chunk when streaming',
    'Unsupported: `strict: true` tools, `json_schema`, images, audio, logprobs, Responses-specific fields (rejected with 422).',
  ]),
  ...section('POST /v1/chat/completions: conversation', 'conversation', [
    ['assistant calls need unique IDs', '"call ids are unique over the whole conversation"'],
    [
      'every call must receive exactly one matching tool result before the next assistant generation',
      '"an assistant message with calls is followed at once by exactly one result for each (any order, nothing between)"',
    ],
    [
      'the final message must be a user message or the end of a completed tool-result block',
      '"final turn must be a user message or a completed tool-result block"',
    ],
    'The server emits function calls; the caller executes them.',
  ]),
  ...section('POST /v1/chat/completions: routing', 'chat-route', [
    '`subject_id` or `X-Service-Subject` selects an adapted route.',
    'A missing or expired explicitly requested adapter fails without fallback.',
    "Pinned versions must belong to the key's project, the selected tenant and the supplied subject.",
    'Adapter ownership checks, rates, reservations and settlement are those of native inference.',
  ]),
  ...section('POST /v1/chat/completions: response', 'chat-answer', [
    [
      'Response 200: `application/json` completion (see Resources) or `text/event-stream`.',
      '`text/event-stream` with "`X-Service-Job-Id`, `Idempotency-Key`, `X-Request-Id`", and the same job as JSON',
    ],
    'Headers on success: `X-Service-Job-Id`, `Idempotency-Key`, `X-Request-Id`.',
    'If `Idempotency-Key` is omitted the gateway generates one and returns it in the header.',
    ['SSE: keepalive comments while the job runs', '"keepalive comments while the job runs", the first at once'],
    'after final validation, a content/tool delta (tool deltas carry index, id, function name and the complete argument string), a finish chunk, optional usage chunk, then `[DONE]`',
    'Cancelling the client stream does not cancel the job.',
    [
      'Wait deadline: about four minutes.',
      'a wait of 0 answers at once: with the job when it is done, else 409 `job_pending`',
      'a chat completion waits 240 seconds unless told',
    ],
    'If the job is pending, failed or in reconciliation after admission, the response is 409 with `error.job_id`, `error.status_url`, `retryable: false`',
    'in an admitted stream the same envelope is sent in a data frame before `[DONE]`',
  ]),
];
