import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { withRandomCheckpoint } from '../testing/randomCheckpoint.js';
import { EmbeddedEngine } from '../embeddedEngine.js';
import type { ChatPrompt, GenerateRequest } from '../types.js';

const prompt: ChatPrompt = { messages: [{ role: 'user', content: 'Who built it?' }] };
const request: GenerateRequest = { prompt, adapter: null, maxOutputTokens: 6, temperature: 0 };

test('an output is as likely as scoring says, at any temperature', async () => {
  const modelDir = fileURLToPath(new URL('../../../../models/base', import.meta.url));
  const engine = await EmbeddedEngine.open({ modelDir, threads: 1 });
  try {
    const whole = { ...request, maxOutputTokens: 64 };
    assert.equal((await engine.generate(whole)).logprob, undefined, 'only where it is asked for');
    for (const changes of [{}, { temperature: 1, minP: 0.1, seed: 3 }, { temperature: 0.7, seed: 4 }]) {
      const { text, logprob, finishReason } = await engine.generate({ ...whole, ...changes, wantsLogprob: true });
      assert.equal(finishReason, 'stop');
      const [score] = await engine.score({ sequences: [await engine.encode(prompt, text)], adapter: null, topK: 0 });
      const expected = score?.logprobs.reduce((sum, value) => sum + value, 0) ?? NaN;
      assert.ok(Math.abs((logprob ?? NaN) - expected) < 1e-3, `${logprob} for ${expected}: ${text}`);
    }
  } finally {
    await engine.close();
  }
});

test('min-p is a share', async () => {
  await withRandomCheckpoint(async (folder) => {
    const engine = await EmbeddedEngine.open({ modelDir: join(folder, 'model'), threads: 1 });
    try {
      for (const minP of [-0.1, 1.1, NaN]) {
        await assert.rejects(engine.generate({ ...request, minP }), { code: 'invalid_request', message: /minP/ });
      }
    } finally {
      await engine.close();
    }
  });
});
