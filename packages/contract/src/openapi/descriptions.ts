import { limits } from '../limits.js';

/**
 * Texts that say more than a schema alone can, for readers of the description. Texts are Markdown: paragraphs, lists,
 * `code`.
 */

export type SchemaName =
  | 'InferenceRequest'
  | 'InternalizationRequest'
  | 'ChatCompletionRequest'
  | 'ActivationRequest'
  | 'Message'
  | 'ChatMessage'
  | 'ToolCall'
  | 'ChatToolCall'
  | 'Tool'
  | 'ToolChoice'
  | 'ResponseFormat'
  | 'Receipt'
  | 'Job'
  | 'InferenceResult'
  | 'LearningResult'
  | 'JobList'
  | 'JobListItem'
  | 'SubjectList'
  | 'Subject'
  | 'Version'
  | 'ActivationResult'
  | 'ChatCompletion'
  | 'ChatCompletionChunk'
  | 'ChatUsage'
  | 'ChatService'
  | 'ModelCatalogue'
  | 'Model'
  | 'Error';

const units = 'Lengths are counted in UTF-16 code units.';

/** Rules over a whole conversation, the same on both endpoints. */
export const conversationRules = `The conversation as a whole must hold to these rules, or it is refused with 422:

- The final turn is a user message or the end of a completed tool-result block.
- Only tool results and messages of the assistant may be empty.
- Call ids are unique over the whole conversation.
- An assistant message with calls is followed at once by exactly one result for each, in any order, with nothing between.
- \`arguments\` is the text of a JSON object.
- Tool names are unique; \`tool_choice\` \`required\` needs a tool, and a named function must be offered.
- \`messages\` and \`tools\`, serialized as JSON, take at most ${limits.maxSerializedMessagesAndToolsUnits.toLocaleString('en')} units together. ${units}`;

export const schemaDescriptions: Readonly<Record<SchemaName, string>> = {
  InferenceRequest: conversationRules,
  InternalizationRequest: 'A passage to learn. Unknown fields are refused.',
  ChatCompletionRequest: `${conversationRules}

\`null\` for an optional field, of the body or of a message, means that it is left out. Unknown fields, \`strict: true\` tools, \`json_schema\`, images, audio, logprobs and fields of the Responses API are refused with 422.`,
  ActivationRequest: 'Which version to make active, and which one is expected to be active now.',
  Message: 'One turn of a conversation.',
  ChatMessage:
    'One turn of a conversation, as OpenAI clients send it. A message of an answer may be sent back as the client gives it.',
  ToolCall: 'A function call that the model makes; the caller executes it.',
  ChatToolCall: 'A function call of an earlier answer, as OpenAI clients send it back.',
  Tool: 'A function that the model may call.',
  ToolChoice:
    'Whether a function is called: `auto` leaves it to the model, `none` forbids it, `required` or a named function forces it.',
  ResponseFormat:
    '`json_object`: the answer is checked after generation, not constrained; invalid JSON fails the job, and its tokens are charged.',
  Receipt: 'An admitted job. Its outcome is read from the job.',
  Job: 'A durable job. `status` ends as `succeeded` (inference), `ready` or `rejected` (learning) or `failed`; `reconciliation_required` waits for an operator, with its reservation held.',
  InferenceResult: 'The answer of an inference job.',
  LearningResult: 'What learning came to. Callers ignore fields that they do not know.',
  JobList: 'A page of jobs, newest first.',
  JobListItem: 'A job in short; read the job itself for the rest.',
  SubjectList: `Up to ${limits.maxSubjectsPerListing} subjects of the selected tenant, most recently changed first.`,
  Subject: 'A name under which passages are learned, with its saved versions.',
  Version: 'A saved version of the learned weights of one subject.',
  ActivationResult: 'The version that is active now.',
  ChatCompletion: 'A completion as OpenAI clients read it, with the extension object `service`.',
  ChatCompletionChunk: 'One frame of a buffered stream.',
  ChatUsage: 'Tokens of this completion. Reasoning is counted; its text is never returned.',
  ChatService: 'Which job ran, and on which version.',
  ModelCatalogue: 'The models of this service: one.',
  Model: 'A model and its price card.',
  Error: 'Every error has this shape. `code` is for programs, `message` for people; messages may change at any time.',
};

export const fieldDescriptions: Readonly<Record<`${SchemaName}.${string}`, string>> = {
  'InferenceRequest.subject_id': 'The subject; created by the first admitted operation that names it.',
  'InferenceRequest.tenant_id': 'The tenant; equal to `X-Service-Tenant` when both are given.',
  'InferenceRequest.adapter_version':
    'A retained version of this subject, or `base` for the clean base model. Left out: the active version.',
  'InferenceRequest.messages': 'The whole conversation: nothing is stored between calls, and nothing is added to it.',
  'InferenceRequest.tools': 'Functions with unique names. An empty array means none.',
  'InferenceRequest.tool_choice': 'Left out: `auto`.',
  'InferenceRequest.parallel_tool_calls': 'With `false`, at most one call is returned.',
  'InferenceRequest.response_format': 'Left out: `text`.',
  'InferenceRequest.max_output_tokens':
    'Ceiling of the answer, reasoning included. Reaching it ends the answer with `finish_reason` `length`.',
  'InferenceRequest.temperature': '0 is greedy, and repeatable for the same prompt and version.',
  'InternalizationRequest.subject_id':
    'The subject that learns; created by the first admitted operation that names it.',
  'InternalizationRequest.tenant_id': 'The tenant; equal to `X-Service-Tenant` when both are given.',
  'InternalizationRequest.content': `Self-contained text, not a file, URL or message array. ${units}`,
  'InternalizationRequest.max_cost_microusd': `Caps compute and the first ${limits.initialHostingHours} hours of hosting; reserved at admission. Set it in your application, never from arguments that a model wrote.`,
  'InternalizationRequest.activate':
    'Whether to make the new version active when it passes validation and no other was activated meanwhile.',
  'ChatCompletionRequest.model': 'The one model of this service.',
  'ChatCompletionRequest.messages': 'The whole conversation: nothing is stored between calls.',
  'ChatCompletionRequest.subject_id':
    "Routes through this subject's active version; equal to `X-Service-Subject` when both are given. Without either the base model answers.",
  'ChatCompletionRequest.tenant_id': 'The tenant; equal to `X-Service-Tenant` when both are given.',
  'ChatCompletionRequest.adapter_version':
    'A retained version of the subject, or `base`. Other than `base` it needs a subject.',
  'ChatCompletionRequest.temperature': '0 is greedy, and repeatable for the same prompt and version.',
  'ChatCompletionRequest.n': 'One answer is what there is.',
  'ChatCompletionRequest.tools': 'Functions with unique names.',
  'ChatCompletionRequest.tool_choice': 'Left out: `auto`.',
  'ChatCompletionRequest.parallel_tool_calls': 'With `false`, at most one call is returned.',
  'ChatCompletionRequest.response_format': 'Left out: `text`.',
  'ChatCompletionRequest.stream': 'With `true` the finished answer comes as server-sent events.',
  'ChatCompletionRequest.stream_options': 'For streams only.',
  'ChatCompletionRequest.stream_options.include_usage': 'Adds a last chunk with the usage.',
  'ActivationRequest.version_id': 'The version to make active. The subject is the one it belongs to.',
  'ActivationRequest.expected_version_id':
    'The version that is active now; `null` when the subject uses base. The text `base` never equals it.',
  'ActivationRequest.tenant_id': 'The tenant; equal to `X-Service-Tenant` when both are given.',
  'Message.role': 'Who speaks.',
  'Message.content': `The text; empty on tool results and messages of the assistant at most. ${units}`,
  'Message.name': 'Tells participants of the same role apart.',
  'Message.tool_calls': 'Calls of an assistant message.',
  'Message.tool_call_id': 'The call that a tool message answers; required there and refused elsewhere.',
  'ChatMessage.role': 'Who speaks; `developer` is read as `system`.',
  'ChatMessage.content': `A text, or text parts that are joined, of at most ${limits.maxMessageContentUnits.toLocaleString('en')} units; \`null\` on assistant messages that carry calls. Not empty on system, developer and user messages. ${units}`,
  'ChatMessage.name': 'Tells participants of the same role apart.',
  'ChatMessage.tool_calls': 'Calls of an assistant message.',
  'ChatMessage.tool_call_id': 'The call that a tool message answers; required there and refused elsewhere.',
  'ChatMessage.refusal': 'Dropped when it is null or empty.',
  'ChatMessage.annotations': 'Dropped when it is null or empty.',
  'ChatMessage.audio': 'Dropped when it is null or empty.',
  'ChatMessage.function_call': 'Dropped when it is null or empty.',
  'ChatMessage.parsed': 'Dropped when it is null or empty.',
  'ChatToolCall.id': 'Unique over the whole conversation.',
  'ChatToolCall.index': 'Dropped.',
  'ChatToolCall.parsed_arguments': 'Dropped.',
  'ChatToolCall.function.name': 'The function that was called.',
  'ChatToolCall.function.arguments': 'The text of a JSON object, in which no key occurs twice.',
  'ChatToolCall.function.parsed_arguments': 'Dropped.',
  'ToolCall.id': 'Unique over the whole conversation.',
  'ToolCall.function.name': 'The function to call.',
  'ToolCall.function.arguments': 'The text of a JSON object, in which no key occurs twice.',
  'Tool.function.name': 'Unique among the tools.',
  'Tool.function.description': 'What it does and when to call it, for the model.',
  'Tool.function.parameters': 'A JSON Schema of the arguments.',
  'Tool.function.strict': 'Strict schemas are not supported.',
  'Receipt.id': 'The durable job ID.',
  'Receipt.status_url': 'The path to poll: `/v1/jobs/<id>`.',
  'Job.id': 'The job ID.',
  'Job.tenant_id': '`null`: the project namespace.',
  'Job.subject_id': 'The subject as the caller named it; `default` for a chat completion without one.',
  'Job.phase': 'What is being done, for diagnosis; not a measure of progress.',
  'Job.adapter_version': 'The version resolved at admission, or `base`; of a learning job its parent.',
  'Job.usage': 'What is billed: work repeated after a failure of ours is not in it.',
  'Job.usage.input_tokens': 'Input tokens; for learning those of teacher, scoring and evaluation calls too.',
  'Job.usage.output_tokens': 'Output tokens, reasoning included.',
  'Job.usage.cached_input_tokens': 'The subset of the input tokens that is billed at the cached rate.',
  'Job.usage.training_tokens': 'Every billed training exposure.',
  'Job.billing.reserved_microusd': 'The reservation made at admission; it stays on record.',
  'Job.billing.charged_microusd': 'Compute and storage; final when `settled` is true.',
  'Job.billing.settled': 'Whether the reservation has been settled.',
  'Job.billing.pricing_version': 'The price card fixed at admission.',
  'Job.billing.compute_microusd': 'The part of the charge for tokens.',
  'Job.billing.storage_microusd': 'The part of the charge for the first day of hosting.',
  'Job.result': 'By kind, once there is one. Not every result has `text`, and not every unsuccessful job a candidate.',
  'Job.error': 'Why a job did not succeed; distinct from the error of an HTTP response.',
  'Job.error.code':
    '`adapter_damaged`: the files of the version are damaged or missing on the side of the service; nothing is charged, and nothing falls back to base. `adapter_unavailable`: the files could not be fetched from where they are kept; nothing is charged, and the same request under another idempotency key may succeed later. `base_model_changed`: the base model of the service was changed after the job was admitted. `cancelled`: an operator of the service ended the job; nothing is charged. `receipt_missing`, `receipt_inconsistent`: what is owed for work done elsewhere is not known; the job keeps this code when an operator has settled it.',
  'InferenceResult.text': 'The answer; empty when there are only calls.',
  'InferenceResult.finish_reason': '`length`: the output ceiling was reached, and the answer may be cut off.',
  'InferenceResult.tool_calls': 'With `finish_reason` `tool_calls`.',
  'LearningResult.candidate': 'The saved version; absent when validation rejected it.',
  'LearningResult.validation.passed_count': 'Held-out questions that the candidate answers without the passage.',
  'LearningResult.validation.base_passed_count': 'Of the same questions, those that the parent answered before.',
  'LearningResult.validation.retention_passed_count':
    'Questions about earlier passages of this subject that it still answers.',
  'LearningResult.training.parent_damaged':
    "Present where the parent's files were damaged or missing: the candidate was trained from base, with rehearsal of the earlier passages.",
  'LearningResult.training.parent_base_model_changed':
    'Present where the parent was trained on another base model than the service has now: the candidate was trained from the base model of now, with rehearsal of the earlier passages.',
  'LearningResult.rejection': 'Why the candidate was rejected; present where it was.',
  'LearningResult.rejection.reasons':
    'Stable words: `not_understood`, `language_not_known`, `too_few_validated`, `too_few_passed`, `not_better_than_parent`, `earlier_passages_lost`, `skills_lost`, `not_measured`.',
  'LearningResult.rejection.message':
    'For a person, never to be parsed: what happened, which parts were not learned, and what would help.',
  'LearningResult.activated': 'Whether the candidate became the active version.',
  'LearningResult.activation_conflict': 'Whether it did not because another version was activated during training.',
  'JobList.next_cursor': '`null` on the last page.',
  'Subject.tenant_id': '`null`: the project namespace.',
  'Subject.id': 'The name that callers gave it.',
  'Subject.active_version': '`null`: the subject uses base.',
  'Subject.revision': 'Counts activations, not versions.',
  'Subject.versions': `Up to the ${limits.maxVersionsPerSubjectListing} most recent, newest first. That an older one is missing proves nothing.`,
  'Version.id': 'What activation and `adapter_version` take.',
  'Version.expires_at':
    'The deadline of its retention. Afterwards pinning or activating it fails with `adapter_expired`.',
  'Version.validation.passed': 'How many questions it passed.',
  'Version.source_job': 'The learning job that created it.',
  'Version.base_model_changed':
    'Present where it was trained on another base model than the service has now: pinning or activating it fails with `base_model_changed`. Learning on it starts from the base model.',
  'ActivationResult.revision': 'Increments with every activation, also of the version that is active already.',
  'ChatCompletion.created': "Unix time in seconds of the job's admission.",
  'ChatCompletion.choices': 'Exactly one.',
  'ChatCompletion.choices.message.content': '`null` when there are only calls.',
  'ChatCompletionChunk.choices': 'Empty in the usage chunk.',
  'Model.id': 'What `model` of a chat completion takes.',
  'Model.pricing.version': 'An immutable price card.',
  'Model.pricing.output_usd_per_million_tokens': 'Reasoning included.',
  'Model.pricing.cached_input_usd_per_million_tokens': 'Replaces the input rate for cached tokens.',
  'Model.pricing.internalization_fee_usd': 'No fee for a learning call.',
  'Error.error.code': 'What went wrong, for programs.',
  'Error.error.retryable': 'Whether the same request may succeed later.',
  'Error.error.request_id': 'Equal to the `X-Request-Id` header.',
  'Error.error.message': 'For people; never to be parsed.',
  'Error.error.param': 'The offending field, such as `messages[3].tool_call_id`; on 422.',
  'Error.error.job_id': 'Chat completions after admission: inspect this job before retrying.',
  'Error.error.status_url': 'The path of that job.',
};
