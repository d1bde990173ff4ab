import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type ChatCompletion } from '@engraft/contract';
import {
  call42,
  wireCall42,
  lookUp,
  chat,
  script,
  post,
  complete,
  assertError,
  readJob,
  open,
  close,
  reset,
} from '../testing/chatTest.js';

before(open);
after(close);
beforeEach(reset);

describe('the answer of POST /v1/chat/completions', () => {
  test('"`id`, `object` (`chat.completion`), `created` (integer), `model`, `choices`, `usage`" and "`service`: `job_id`, `subject_id`, resolved `adapter_version`"', async () => {
    const usage = { inputTokens: 20, outputTokens: 7, cachedInputTokens: 5, reasoningTokens: 4 };
    script.reply = () => ({ text: 'Forty-two.', usage });
    const { id, created, service: extension, ...completion } = await complete({ ...chat, subject_id: 'anna' });
    assert.match(id, /^chatcmpl_/);
    assert.ok(Math.abs(created - Date.now() / 1000) < 60);
    assert.deepEqual(extension, { job_id: extension.job_id, subject_id: 'anna', adapter_version: 'base' });
    assert.deepEqual(completion, {
      model: 'model-5.3',
      object: 'chat.completion',
      choices: [
        { index: 0, message: { role: 'assistant', content: 'Forty-two.' }, finish_reason: 'stop', logprobs: null },
      ],
      usage: {
        prompt_tokens: 20,
        completion_tokens: 7,
        total_tokens: 27,
        prompt_tokens_details: { cached_tokens: 5 },
        completion_tokens_details: { reasoning_tokens: 4 },
      },
    });
  });

  test('"`choices[0].message` holds final text, `tool_calls`, or both; `finish_reason` is `stop`, `length` or `tool_calls`"', async () => {
    const messageOf = async () => {
      const { message, finish_reason } = (await complete({ ...chat, tools: [lookUp] })).choices[0]!;
      return { ...message, finish_reason };
    };
    script.reply = () => ({ text: '', toolCalls: [call42], finishReason: 'tool_calls' });
    const toolCalls = [wireCall42];
    const called = { role: 'assistant', content: null, tool_calls: toolCalls, finish_reason: 'tool_calls' };
    assert.deepEqual(await messageOf(), called);
    script.reply = () => ({ text: 'Wait.', toolCalls: [call42], finishReason: 'tool_calls' });
    assert.deepEqual(await messageOf(), { ...called, content: 'Wait.' });
    script.reply = () => ({ text: '', finishReason: 'length' });
    assert.deepEqual(await messageOf(), { role: 'assistant', content: '', finish_reason: 'length' });
  });

  test('"Headers on success: `X-Service-Job-Id`, `Idempotency-Key`, `X-Request-Id`."', async () => {
    const response = await post(chat, { 'idempotency-key': 'the-key-of-the-caller' });
    assert.equal(response.headers['idempotency-key'], 'the-key-of-the-caller');
    assert.equal(response.headers['x-service-job-id'], response.json<ChatCompletion>().service.job_id);
    assert.match(String(response.headers['x-request-id']), /^req_/);
  });

  test('"If `Idempotency-Key` is omitted the gateway generates one and returns it in the header."', async () => {
    const first = await post(chat);
    const generatedKey = String(first.headers['idempotency-key']);
    assert.match(generatedKey, /^[a-zA-Z0-9][a-zA-Z0-9_.:-]{7,127}$/);
    const again = await post(chat, { 'idempotency-key': generatedKey });
    assert.deepEqual(again.json(), first.json());
    assert.notEqual((await post(chat)).headers['idempotency-key'], generatedKey);
    assertError(await post(chat, { 'idempotency-key': 'short' }), 422, 'invalid_request', 'Idempotency-Key');
  });

  test('the job is an inference like any other: "adapter ownership checks, rates, reservations and settlement are those of native inference"', async () => {
    const { service: extension } = await complete({ ...chat, max_tokens: 100 });
    const job = await readJob(extension.job_id);
    assert.deepEqual([job.kind, job.status, job.phase], ['inference', 'succeeded', 'done']);
    assert.equal(job.billing.reserved_microusd, 9 * 12 + 100 * 30);
    assert.equal(job.billing.charged_microusd, 9 * 12 + 3 * 30);
  });
});

describe('what the model gets', () => {
  test('"`developer` is treated as `system`", parts are joined, `null` beside calls is no text', async () => {
    await complete({
      ...chat,
      messages: [
        { role: 'developer', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look ' },
            { type: 'text', text: 'it up.' },
          ],
          name: 'eva',
        },
        { role: 'assistant', content: null, tool_calls: [wireCall42] },
        { role: 'tool', content: [{ type: 'text', text: 'nothing' }], tool_call_id: 'call_42' },
      ],
      tools: [{ ...lookUp, function: { ...lookUp.function, strict: false } }],
      tool_choice: 'auto',
      parallel_tool_calls: false,
      temperature: 0.5,
      max_completion_tokens: 77,
    });
    const { prompt, maxOutputTokens, temperature, toolChoice, parallelToolCalls } = script.generated[0]!;
    assert.deepEqual(prompt, {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Look it up.', name: 'eva' },
        { role: 'assistant', content: '', toolCalls: [call42] },
        { role: 'tool', content: 'nothing', toolCallId: 'call_42' },
      ],
      tools: [{ name: 'look_up', parameters: { type: 'object', properties: {} } }],
      // As a passage is learned.
      thinking: false,
    });
    assert.deepEqual([maxOutputTokens, temperature, toolChoice, parallelToolCalls], [77, 0.5, { kind: 'auto' }, false]);
  });

  test('no function with `tool_choice` `none`, so that it writes no call as its text', async () => {
    await complete({ ...chat, tools: [lookUp], tool_choice: 'none' });
    const { prompt, toolChoice } = script.generated[0]!;
    assert.deepEqual([prompt.tools, toolChoice], [undefined, { kind: 'none' }]);
  });

  test('"exactly one result for each (any order, nothing between)": each stands where its call does', async () => {
    const call43 = { ...wireCall42, id: 'call_43' };
    const resultOf = (id: string) => ({ role: 'tool', content: `of ${id}`, tool_call_id: id });
    await complete({
      ...chat,
      messages: [
        ...chat.messages,
        { role: 'assistant', content: null, tool_calls: [wireCall42, call43] },
        resultOf('call_43'),
        resultOf('call_42'),
        { role: 'assistant', content: 'so' },
        { role: 'user', content: 'and now?' },
      ],
    });
    assert.deepEqual(
      script.generated[0]!.prompt.messages.map(({ content }) => content),
      ['question', '', 'of call_42', 'of call_43', 'so', 'and now?'],
    );
  });

  test('more calls in one message than the native limit of 16', async () => {
    const toolCalls = Array.from({ length: 17 }, (_, index) => ({ ...wireCall42, id: `call_${index}` }));
    const results = toolCalls.map(({ id }) => ({ role: 'tool', content: '', tool_call_id: id }));
    await complete({ ...chat, messages: [{ role: 'assistant', tool_calls: toolCalls }, ...results] });
    assert.equal(script.generated[0]!.prompt.messages[0]!.toolCalls!.length, 17);
  });
});
