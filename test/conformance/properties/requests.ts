import fc from 'fast-check';
import { limits } from '@engraft/contract';

/** A request as it goes out: what a property sends, and prints when it fails. */
export interface SentRequest {
  readonly method: 'GET' | 'POST';
  /** The path of the description that it is meant for. */
  readonly operation: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A text goes out as it is. */
  readonly body?: unknown;
}

/** The things in the database, for requests to name. */
export interface Landmarks {
  readonly version_ids: readonly string[];
  readonly job_ids: readonly string[];
}

const oneOf = (characters: string): fc.Arbitrary<string> => fc.constantFrom(...characters.split(/(?:)/u));
const first = oneOf('abcXYZ019');
const anyIdentifier = fc
  .tuple(first, fc.string({ unit: oneOf('abcXYZ019_.:-'), maxLength: 12 }))
  .map(([head, tail]) => head + tail);
/** Mostly one of few, so that requests meet. */
const subjectId = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom('ada', 'bob', 'cyd', 'dan') },
  { weight: 1, arbitrary: anyIdentifier },
);
const tenantId = fc.constantFrom('blue', 'green', 'a'.repeat(128));
const functionName = fc.string({ unit: oneOf('abAB01_-'), minLength: 1, maxLength: 64 });
/** Anything that JSON can carry, lone surrogates and U+0000 too, and sometimes as much as is allowed. */
const content = fc.oneof(
  { weight: 12, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }) },
  { weight: 1, arbitrary: fc.nat(limits.maxMessageContentUnits).map((length) => 'x'.repeat(length)) },
  { weight: 1, arbitrary: fc.constantFrom('', '\u0000', '\ud800', '🙂'.repeat(20)) },
);
/** Content of messages that may not be empty. */
const said = content.filter((text) => text !== '');
const objectText = fc
  .dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 })
  .map((value) => JSON.stringify(value));

const option = <Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 2 });

const tool = fc.record(
  {
    name: functionName,
    description: fc.string({ maxLength: 20 }),
    parameters: fc.constantFrom({}, { type: 'object', properties: { city: { type: 'string' } } }),
    strict: fc.constant(false),
  },
  { requiredKeys: ['name'] },
);

/** Calls with their results, ids numbered from `offset` on. */
const toolBlock = fc.record({
  texts: fc.array(objectText, { minLength: 1, maxLength: 3 }),
  name: functionName,
  said: content,
  reversed: fc.boolean(),
});

/** A conversation by the rules, which ends with a user message or a completed block. */
const messages = fc
  .record({
    system: option(said),
    turns: fc.array(fc.oneof({ weight: 3, arbitrary: said }, { weight: 1, arbitrary: toolBlock }), { maxLength: 3 }),
    last: fc.oneof({ weight: 4, arbitrary: said }, { weight: 1, arbitrary: toolBlock }),
    name: option(functionName),
  })
  .map(({ system, turns, last, name }) => [
    ...(system === undefined ? [] : [{ role: 'system', content: system }]),
    ...[...turns, last].flatMap((turn, index) =>
      typeof turn === 'string'
        ? [{ role: 'user', content: turn, ...(name === undefined ? {} : { name }) }]
        : blockMessages(turn, index),
    ),
  ]);

function blockMessages(
  block: typeof toolBlock extends fc.Arbitrary<infer Block> ? Block : never,
  offset: number,
): object[] {
  const ids = block.texts.map((_, call) => `call-${offset}-${call}`);
  const toolCalls = block.texts.map((text, call) => ({
    id: ids[call],
    type: 'function',
    function: { name: block.name, arguments: text },
  }));
  const results = ids.map((toolCallId) => ({ role: 'tool', content: block.said, tool_call_id: toolCallId }));
  return [{ role: 'assistant', content: '', tool_calls: toolCalls }, ...(block.reversed ? results.reverse() : results)];
}

/** Tools with distinct names, and a choice that they allow. */
const toolFields = fc
  .record({
    tools: fc.uniqueArray(tool, { maxLength: 3, selector: ({ name }) => name }),
    choice: fc.constantFrom(undefined, 'auto', 'none', 'required', 'named'),
  })
  .map(({ tools, choice }) => {
    const [offered] = tools;
    const named = offered === undefined ? 'none' : { type: 'function', function: { name: offered.name } };
    return {
      tools: tools.map((each) => ({ type: 'function', function: each })),
      tool_choice: choice === 'named' ? named : choice === 'required' && offered === undefined ? 'auto' : choice,
    };
  });

const shared = {
  messages,
  toolFields: option(toolFields),
  parallel_tool_calls: option(fc.boolean()),
  response_format: option(fc.record({ type: fc.constantFrom('text', 'json_object') })),
  temperature: option(fc.double({ min: 0, max: 1, noNaN: true })),
};
/** Two of the longest contents in one conversation can pass what is allowed together. */
function fits({ messages: sent, tools = [] }: { readonly messages: object; readonly tools?: object }): boolean {
  return JSON.stringify(sent).length + JSON.stringify(tools).length <= limits.maxSerializedMessagesAndToolsUnits;
}
const outputTokens = option(fc.integer({ min: limits.minOutputTokens, max: limits.maxOutputTokens }));
/** Few enough to be used again, now and then with other input. */
const idempotencyKey = fc.oneof(
  { weight: 1, arbitrary: fc.nat(40).map((number) => `again-${number}-key`) },
  { weight: 9, arbitrary: fc.uuid() },
);

function post(operation: string, body: fc.Arbitrary<object>): fc.Arbitrary<SentRequest> {
  return fc.record({ body, key: idempotencyKey }).map(({ body: sent, key }) => ({
    method: 'POST',
    operation,
    url: operation,
    headers: { 'idempotency-key': key },
    body: sent,
  }));
}

function get(operation: string, url: fc.Arbitrary<string>): fc.Arbitrary<SentRequest> {
  return url.map((path) => ({ method: 'GET', operation, url: path, headers: {} }));
}

/** Any valid request to any endpoint. */
export function validRequest({ version_ids, job_ids }: Landmarks): fc.Arbitrary<SentRequest> {
  const version = fc.constantFrom('base', 'ver_unknown', ...version_ids);
  const tenant = fc.option(tenantId, { nil: undefined, freq: 4 });
  const inference = fc
    .record({
      ...shared,
      subject_id: subjectId,
      tenant_id: tenant,
      adapter_version: option(version),
      max_output_tokens: outputTokens,
    })
    .map(({ toolFields: fields, ...body }) => ({ ...body, ...fields }))
    .filter(fits);
  const chat = fc
    .record({
      ...shared,
      subject_id: option(subjectId),
      tenant_id: fc.option(tenantId, { nil: null, freq: 4 }),
      max_completion_tokens: fc.option(fc.integer({ min: 1, max: limits.maxOutputTokens }), { freq: 2 }),
      stream: option(fc.boolean()),
      n: option(fc.constant(1)),
    })
    .map(({ toolFields: fields, ...body }) => ({ model: 'model-5.3', ...body, ...fields }))
    .filter(fits);
  const learning = fc.record({
    subject_id: subjectId,
    tenant_id: tenant,
    content: fc.string({ unit: 'binary', minLength: 20, maxLength: 60 }),
    max_cost_microusd: fc.integer({
      min: limits.minLearningMaxCostMicrousd,
      max: limits.maxLearningMaxCostMicrousd,
    }),
    activate: option(fc.boolean()),
  });
  const activation = fc.record({
    version_id: fc.constantFrom('ver_unknown', ...version_ids),
    expected_version_id: fc.constantFrom(null, 'base', ...version_ids),
  });
  return fc.oneof(
    { weight: 30, arbitrary: post('/v1/inferences', inference) },
    { weight: 15, arbitrary: post('/v1/chat/completions', chat) },
    { weight: 10, arbitrary: post('/v1/internalizations', learning) },
    { weight: 15, arbitrary: post('/v1/adapters/activate', activation) },
    {
      weight: 20,
      arbitrary: get(
        '/v1/jobs/{id}',
        fc.constantFrom('job_unknown', ...job_ids).map((id) => `/v1/jobs/${id}`),
      ),
    },
    {
      weight: 6,
      arbitrary: get(
        '/v1/jobs',
        fc.integer({ min: 1, max: 100 }).map((limit) => `/v1/jobs?limit=${limit}`),
      ),
    },
    { weight: 3, arbitrary: get('/v1/models', fc.constant('/v1/models')) },
    { weight: 1, arbitrary: get('/v1/subjects', fc.constant('/v1/subjects')) },
  );
}
