import assert from 'node:assert/strict';
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { EmbeddedEngine } from '../embeddedEngine.js';
import { hashAdapterFolder } from '../adapters/contentHash.js';
import { request, user } from '../testing/engines.js';
import { withRandomCheckpoint, writeRandomAdapter } from '../testing/randomCheckpoint.js';
import type { GenerateRequest } from '../types.js';
import { ModelFront } from './modelFront.js';

const tools = [{ name: 'time', parameters: { type: 'object' } }];

test('gives what the embedded engine gives, except for what is computed', async () => {
  await withRandomCheckpoint(async (folder) => {
    const modelDir = join(folder, 'model');
    const engine = await EmbeddedEngine.open({ modelDir, threads: 1 });
    const front = await ModelFront.open(modelDir);
    try {
      assert.deepEqual(await front.describe(), await engine.describe());
      const prompt = user('Who built it?');
      assert.equal(await front.countTokens(prompt), await engine.countTokens(prompt));
      assert.deepEqual(await front.encode(prompt, 'Ada Kell.'), await engine.encode(prompt, 'Ada Kell.'));
      const prepared = await front.prepare(request({ maxOutputTokens: 10_000 }));
      assert.equal(prepared.maxOutputTokens, 512 - prepared.prompt.length);
      await assert.rejects(front.prepare(request({ prompt: user('word '.repeat(600)) })), {
        code: 'context_length_exceeded',
      });
      await assert.rejects(front.prepare(request({ temperature: -1 })), { code: 'invalid_request' });
    } finally {
      await engine.close();
      await front.close();
    }
    await assert.rejects(front.describe(), { code: 'cancelled' });
  });
});

test('ends a single call where it is complete, whatever was written after it', async () => {
  await withRandomCheckpoint(async (folder) => {
    const front = await ModelFront.open(join(folder, 'model'));
    const call = '<tool_call>\n{"name": "time", "arguments": {}}\n</tool_call>';
    const { tokens, targetStart } = await front.encode(user('Hi'), `${call} and more ${call}`, { markup: true });
    const written = { tokens: tokens.slice(targetStart), ended: 'length', reusedTokens: 0, logprobs: null } as const;
    const compose = (changes: Partial<GenerateRequest>) =>
      front.compose(request({ prompt: { ...user('Hi'), tools }, ...changes }), 7, written);
    const [single, parallel] = [await compose({ parallelToolCalls: false }), await compose({})];
    assert.deepEqual([single.toolCalls.length, parallel.toolCalls.length], [1, 2]);
    assert.equal(single.finishReason, 'tool_calls');
    assert.ok(single.usage.outputTokens < written.tokens.length);
    await front.close();
  });
});

test('an adapter says what it does to a few sequences, and others are checked without it', async () => {
  await withRandomCheckpoint(async (folder, config) => {
    const modelDir = join(folder, 'model');
    const engine = await EmbeddedEngine.open({ modelDir, threads: 1 });
    const front = await ModelFront.open(modelDir);
    try {
      const training = await engine.openTraining({ parent: null, rank: 2, alpha: 4, seed: 1 });
      const sequence = await engine.encode(user('Who built it?'), 'Ada Kell.');
      for (let step = 0; step < 5; step += 1) await training.step([{ sequence, weight: 1 }], 1e-2);
      const adapter = await training.save(join(folder, 'trained'));
      await training.close();
      const sequences = await front.probeSequences();
      const probe = await front.checkAdapter(adapter);
      assert.deepEqual(
        probe?.sequences,
        sequences.map(({ tokens }) => tokens),
      );
      for (const [index, { logprobs }] of (await engine.score({ sequences, adapter, topK: 0 })).entries()) {
        const loss = -logprobs.reduce((total, each) => total + each, 0) / logprobs.length;
        assert.ok(Math.abs(loss - (probe.losses[index] ?? NaN)) < 1e-4);
      }
      assert.equal(await front.checkAdapter(await writeRandomAdapter(join(folder, 'random'), config, 3)), null);
      const damaged = join(folder, 'damaged');
      await cp(adapter.folder, damaged, { recursive: true });
      await writeFile(join(damaged, 'adapter_model.safetensors'), 'none');
      await assert.rejects(front.checkAdapter({ ...adapter, folder: damaged }), { code: 'adapter_damaged' });
      const contentHash = (await hashAdapterFolder(damaged)) ?? '';
      await assert.rejects(front.checkAdapter({ folder: damaged, contentHash }), { code: 'adapter_invalid' });
    } finally {
      await engine.close();
      await front.close();
    }
  });
});
