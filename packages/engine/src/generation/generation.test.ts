import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { TINY_TOKENIZER, withRandomCheckpoint, writeRandomAdapter } from '../checkpoint/randomCheckpoint.js';
import { EmbeddedEngine } from '../embeddedEngine.js';
import { ChatTokenizer } from '../tokenizer/chatTokenizer.js';
import type { AdapterReference, ChatPrompt, GenerateRequest, GenerateResult } from '../types.js';

const user = (content: string): ChatPrompt => ({ messages: [{ role: 'user', content }] });

interface Setting {
  readonly engine: EmbeddedEngine;
  /** No adapter, and three adapters of unlike rank. */
  readonly adapters: readonly (AdapterReference | null)[];
}

async function withEngine(use: (setting: Setting) => Promise<void>): Promise<void> {
  await withRandomCheckpoint(async (folder, config) => {
    const adapters = await Promise.all(
      [2, 4, 7].map((rank) => writeRandomAdapter(join(folder, `adapter-${rank}`), config, rank, rank)),
    );
    const engine = await EmbeddedEngine.open({ modelDir: join(folder, 'model'), threads: 1, maxBatch: 3 });
    try {
      await use({ engine, adapters: [null, ...adapters] });
    } finally {
      await engine.close();
    }
  });
}

const request = (changes: Partial<GenerateRequest> = {}): GenerateRequest => ({
  prompt: user('Who built it?'),
  adapter: null,
  maxOutputTokens: 24,
  temperature: 0,
  ...changes,
});

/** What does not depend on the company a request had in its batch. */
const essence = ({ text, finishReason, usage }: GenerateResult) => ({ text, finishReason, usage });

test('greedy output is the same alone and in any mixture of rows', async () => {
  await withEngine(async ({ engine, adapters }) => {
    const requests = fc.record({
      content: fc.string({ maxLength: 300 }),
      adapter: fc.constantFrom(...adapters),
      maxOutputTokens: fc.integer({ min: 1, max: 30 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(requests, { minLength: 2, maxLength: 7 }), async (list) => {
        const all = list.map(({ content, ...rest }) => request({ ...rest, prompt: user(content) }));
        const together = await Promise.all(all.map((one) => engine.generate(one)));
        for (const [index, one] of all.entries()) {
          assert.deepEqual(essence(await engine.generate(one)), essence(together[index]!));
        }
      }),
      { numRuns: 12 },
    );
  });
});

test('greedy output is that of the whole sequence computed anew for every token', async () => {
  const tokenizer = await ChatTokenizer.load(TINY_TOKENIZER);
  await withEngine(async ({ engine, adapters }) => {
    for (const adapter of adapters) {
      const prompt = user('The lighthouse of Varn '.repeat(30));
      const { text, usage } = await engine.generate(request({ adapter, prompt }));
      const { tokens, targetStart } = await engine.encode(prompt, '');
      const sequence = tokens.slice(0, targetStart);
      assert.equal(usage.inputTokens, sequence.length);
      for (let count = 0; count < usage.outputTokens; count += 1) {
        const scored = await engine.score({
          sequences: [{ tokens: [...sequence, 0], targetStart: sequence.length }],
          adapter,
          topK: 1,
        });
        sequence.push(scored[0]!.topK[0]!.ids[0]!);
      }
      const [score] = await engine.score({ sequences: [{ tokens: sequence, targetStart }], adapter, topK: 0 });
      assert.equal(score!.greedy, true);
      assert.equal(text, tokenizer.decode(sequence.slice(targetStart)));
    }
  });
});
