import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { EngraftApiError } from '@engraft/client';
import { generateText, streamText } from 'ai';
import OpenAI from 'openai';
import { type ServiceProcess, startService } from '../crash/serviceProcess.js';

const model = 'model-5.3';
const messages = [{ role: 'user' as const, content: 'Who founded the observatory?' }];
const question = { model, messages, max_tokens: 12 };

/** `engraft serve` with the shipped model: whatever it says, every client gets the same. */
describe('clients of the whole service', () => {
  let dataFolder: string;
  let service: ServiceProcess;
  let baseURL: string;
  let apiKey: string;
  before(async () => {
    dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-clients-'));
    service = await startService(dataFolder);
    baseURL = `${service.url}/v1`;
    apiKey = (await readFile(path.join(dataFolder, 'default-key'), 'utf8')).trim();
  });
  after(async () => {
    assert.equal(await service.stop(), 0);
    await rm(dataFolder, { recursive: true });
  });

  it('give the same greedy answer, whole and streamed', async () => {
    const engraft = await service.client.chat.completions.create(question);
    const answer = engraft.choices[0]?.message.content ?? '';
    assert.equal(engraft.service.adapter_version, 'base');
    assert.ok(engraft.usage.completion_tokens > 0 && engraft.usage.completion_tokens <= 12);

    let streamed = '';
    for await (const { choices } of await service.client.chat.completions.create({ ...question, stream: true })) {
      streamed += choices[0]?.delta.content ?? '';
    }
    assert.equal(streamed, answer);

    const openai = new OpenAI({ baseURL, apiKey });
    const completion = await openai.chat.completions.create(question);
    assert.equal(completion.choices[0]?.message.content, answer);
    assert.equal(completion.choices[0].finish_reason, engraft.choices[0]?.finish_reason);
    assert.equal((await openai.chat.completions.stream(question).finalContent()) ?? '', answer);

    const provider = createOpenAICompatible({ name: 'engraft', baseURL, apiKey });
    const sdk = { model: provider(model), messages, maxOutputTokens: 12 };
    assert.equal((await generateText(sdk)).text, answer);
    assert.equal(await streamText(sdk).text, answer);
  });

  it('read the jobs of it page by page, and the catalogue', async () => {
    const seen: string[] = [];
    for await (const { data } of service.client.jobs.pages({ limit: 4 })) {
      assert.ok(data.length > 0 && data.length <= 4);
      seen.push(...data.map(({ id }) => id));
    }
    assert.equal(seen.length, 6);
    const first = await service.client.jobs.get(seen.at(-1) ?? '');
    assert.deepEqual([first.subject_id, first.status], ['default', 'succeeded']);
    assert.deepEqual(
      (await service.client.models.list()).data.map(({ id }) => id),
      [model],
    );
  });

  it('forces the opening of a call, and says so when the model cannot finish it', async () => {
    const tools = [{ type: 'function' as const, function: { name: 'look_up' } }];
    const asked = { ...question, tools, tool_choice: 'required' as const };
    const outcome = await service.client.chat.completions.create(asked).catch((error: unknown) => error);
    if (outcome instanceof EngraftApiError) {
      assert.equal(outcome.code, 'job_failed');
      const job = await service.client.jobs.get(outcome.job_id ?? '');
      assert.equal(job.error?.code, 'invalid_tool_call');
      assert.ok(job.billing.charged_microusd > 0);
    } else {
      assert.match(JSON.stringify(outcome), /"finish_reason":"(tool_calls|length)"/);
    }
  });
});
