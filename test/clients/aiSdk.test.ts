import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { GenerateRequest } from '@engraft/engine';
import { scriptedEngine, type ScriptedReply } from '@engraft/service/testing/scriptedEngine.js';
import { startTestService, type TestService } from '@engraft/service/testing/testService.js';
import { APICallError, generateText, jsonSchema, RetryError, stepCountIs, streamText, tool } from 'ai';

/**
 * The Vercel AI SDK with its provider for compatible services, unchanged, over HTTP. A scripted engine injects what the
 * model writes.
 */
describe('the Vercel AI SDK', () => {
  let service: TestService;
  let reply: (request: GenerateRequest) => ScriptedReply;
  let generated: GenerateRequest[];
  before(async () => {
    service = await startTestService(
      scriptedEngine((request) => {
        generated.push(request);
        return reply(request);
      }),
    );
  });
  beforeEach(() => {
    generated = [];
    reply = () => ({ text: 'Forty-two.' });
  });
  after(() => service.stop());

  function model(headers: Record<string, string> = {}) {
    const settings = { name: 'engraft', baseURL: `${service.url}/v1`, apiKey: service.key.secret, headers };
    return createOpenAICompatible({ ...settings, includeUsage: true })('model-5.3');
  }

  const lookUp = tool({
    description: 'Looks up a page.',
    inputSchema: jsonSchema<{ page: number }>({ type: 'object', properties: { page: { type: 'number' } } }),
    execute: ({ page }) => `page ${page}`,
  });
  const callThenAnswer = ({ prompt }: GenerateRequest): ScriptedReply => {
    const result = prompt.messages.find(({ role }) => role === 'tool');
    if (result !== undefined) return { text: `It is ${result.content}.` };
    const toolCalls = [{ id: 'call_1', name: 'look_up', arguments: '{"page": 42}' }];
    return { text: '', toolCalls, finishReason: 'tool_calls' };
  };

  it('generates text', async () => {
    const { text, finishReason, usage } = await generateText({
      model: model({ 'X-Service-Subject': 'anna' }),
      system: 'Be brief.',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'one, ' },
            { type: 'text', text: 'two' },
          ],
        },
      ],
      temperature: 0.5,
      maxOutputTokens: 20,
    });
    assert.deepEqual([text, finishReason], ['Forty-two.', 'stop']);
    assert.deepEqual([usage.inputTokens, usage.outputTokens], [9, 3]);
    assert.deepEqual(generated[0]?.prompt.messages, [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'one, two' },
    ]);
    assert.deepEqual([generated[0].temperature, generated[0].maxOutputTokens], [0.5, 20]);
  });

  it('streams text, with its usage', async () => {
    const stream = streamText({ model: model(), prompt: 'question' });
    const pieces: string[] = [];
    for await (const piece of stream.textStream) pieces.push(piece);
    assert.equal(pieces.join(''), 'Forty-two.');
    assert.equal(await stream.finishReason, 'stop');
    assert.equal((await stream.usage).totalTokens, 12);
  });

  it('runs tools', async () => {
    reply = callThenAnswer;
    const { text, steps } = await generateText({
      model: model(),
      prompt: 'question',
      tools: { look_up: lookUp },
      stopWhen: stepCountIs(3),
    });
    assert.equal(text, 'It is page 42.');
    assert.deepEqual(steps[0]?.toolCalls[0]?.input, { page: 42 });
  });

  it('runs tools over streams', async () => {
    reply = callThenAnswer;
    const stream = streamText({
      model: model(),
      prompt: 'question',
      tools: { look_up: lookUp },
      stopWhen: stepCountIs(3),
    });
    assert.equal(await stream.text, 'It is page 42.');
    assert.equal(generated.length, 2);
  });

  it('throws its own errors, with the message of the service', async () => {
    const wrong = generateText({ model: model({ 'X-Service-Subject': '_' }), prompt: 'question', maxRetries: 0 });
    await assert.rejects(wrong, (error) => {
      assert.ok(APICallError.isInstance(error));
      assert.equal(error.statusCode, 422);
      assert.match(error.message, /X-Service-Subject/);
      assert.equal(error.isRetryable, false);
      return true;
    });
  });

  it('reaches the same job when it repeats a 409, with an idempotency key', async () => {
    reply = () => ({ text: '', invalidToolCall: 'the call is not valid JSON' });
    const asking = generateText({
      model: model({ 'Idempotency-Key': 'asked-by-the-sdk' }),
      prompt: 'question',
      maxRetries: 1,
    });
    await assert.rejects(
      asking,
      (error) => RetryError.isInstance(error) && error.message.includes('invalid_tool_call'),
    );
    assert.equal(generated.length, 1);
  });

  it('reports the error of a stream', async () => {
    reply = () => ({ text: '', invalidToolCall: 'the call is not valid JSON' });
    const errors: unknown[] = [];
    const stream = streamText({ model: model(), prompt: 'question', onError: ({ error }) => void errors.push(error) });
    await stream.consumeStream();
    assert.match(JSON.stringify(errors), /invalid_tool_call/);
  });
});
