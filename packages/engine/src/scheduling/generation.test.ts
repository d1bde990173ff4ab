import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { weightFormats } from '../model/quantization.js';
import { bannedTokens } from '../output/bannedTokens.js';
import { essence, request, user, withEngine } from '../testing/engines.js';
import { tinyTokenizer } from '../testing/randomCheckpoint.js';
import { ChatTokenizer } from '../tokenizer/chatTokenizer.js';
import type { ChatPrompt, GenerateResult } from '../types.js';

test('greedy output is the same alone and in any mixture of rows', async (t) => {
  for (const format of weightFormats) {
    await t.test(format, async () => {
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
      }, format);
    });
  }
});

test('greedy output is that of the whole sequence computed anew for every token', async () => {
  const tokenizer = await ChatTokenizer.load(tinyTokenizer);
  await withEngine(async ({ engine, adapters }) => {
    for (const adapter of adapters) {
      const prompt = user('The lighthouse of Varn '.repeat(30));
      const { text, usage } = await engine.generate(request({ adapter, prompt }));
      const { tokens, targetStart } = await engine.encode(prompt, '');
      const sequence = tokens.slice(0, targetStart);
      const banned = bannedTokens(tokenizer, request({ prompt }));
      let takesGreatest = true;
      assert.equal(usage.inputTokens, sequence.length);
      for (let count = 0; count < usage.outputTokens; count += 1) {
        const scored = await engine.score({
          sequences: [{ tokens: [...sequence, 0], targetStart: sequence.length }],
          adapter,
          topK: banned.length + 1,
        });
        const { ids } = scored[0]!.topK[0]!;
        const next = ids.find((id) => !banned.includes(id))!;
        takesGreatest &&= next === ids[0];
        sequence.push(next);
      }
      const [score] = await engine.score({ sequences: [{ tokens: sequence, targetStart }], adapter, topK: 0 });
      assert.equal(score!.greedy, takesGreatest);
      const whole = tokenizer.decode(sequence.slice(targetStart));
      // Random bytes end inside a character.
      assert.equal(text, whole.replace(/\uFFFD+$/, ''));
    }
  });
});

test('the same seed gives the same tokens, alone and in company', async () => {
  await withEngine(async ({ engine }) => {
    const drawn = (seed: number): Promise<GenerateResult> => engine.generate(request({ temperature: 1.3, seed }));
    const first = essence(await drawn(1));
    const [again, other] = await Promise.all([drawn(1), drawn(2)]);
    assert.deepEqual(essence(again), first);
    assert.notDeepEqual(essence(other), first);
    const [free, freeToo] = [request({ temperature: 1.3 }), request({ temperature: 1.3 })];
    assert.notEqual((await engine.generate(free)).text, (await engine.generate(freeToo)).text);
  });
});

test('output ends at its ceiling, at the context’s, and at a stop token', async () => {
  await withEngine(async ({ engine }) => {
    const short = await engine.generate(request({ maxOutputTokens: 3 }));
    assert.deepEqual([short.finishReason, short.usage.outputTokens], ['length', 3]);

    const content = (length: number): ChatPrompt => user('x'.repeat(length));
    const { contextLength } = await engine.describe();
    const empty = await engine.countTokens(content(0));
    const perLetter = ((await engine.countTokens(content(200))) - empty) / 200;
    const filling = Math.floor((contextLength - empty - 10) / perLetter);
    const inputTokens = await engine.countTokens(content(filling));
    const full = await engine.generate(request({ prompt: content(filling), maxOutputTokens: 1000 }));
    assert.equal(full.finishReason, 'length');
    assert.equal(full.usage.outputTokens, contextLength - inputTokens);
    await assert.rejects(engine.generate(request({ prompt: content(filling * 2) })), {
      code: 'context_length_exceeded',
    });

    // At a high temperature any token is likely, so that one of the stop tokens comes soon.
    const stopped = await engine.generate(request({ temperature: 100, seed: 8, maxOutputTokens: 450 }));
    assert.equal(stopped.finishReason, 'stop');
    assert.ok(stopped.usage.outputTokens < 450);
  });
});

test('a request is cancelled between tokens, and the others go on', async () => {
  await withEngine(async ({ engine }) => {
    const expected = essence(await engine.generate(request()));
    const controllers = Array.from({ length: 5 }, () => new AbortController());
    const doomed = controllers.map(({ signal }, index) =>
      assert.rejects(engine.generate(request({ maxOutputTokens: 400 - index }), { signal }), { code: 'cancelled' }),
    );
    const unharmed = engine.generate(request());
    setTimeout(() => controllers.forEach((controller) => controller.abort()), 20);
    await Promise.all(doomed);
    assert.deepEqual(essence(await unharmed), expected);
    const signal = AbortSignal.abort();
    await assert.rejects(engine.generate(request(), { signal }), { code: 'cancelled' });
    await assert.rejects(engine.score({ sequences: [], adapter: null, topK: 0 }, { signal }), { code: 'cancelled' });
  });
});

test('a forced call begins the output and counts', async () => {
  const tokenizer = await ChatTokenizer.load(tinyTokenizer);
  await withEngine(async ({ engine }) => {
    const prompt = { ...user('What time is it?'), tools: [{ name: 'time', parameters: { type: 'object' } }] };
    const forced = request({ prompt, toolChoice: { kind: 'function', name: 'time' } });
    // The random model never closes the call, so the ceiling cuts it off.
    const { text, finishReason, usage } = await engine.generate(forced);
    assert.deepEqual([text, finishReason, usage.outputTokens], ['', 'length', 24]);
    assert.ok(tokenizer.encodeCompletion('<tool_call>\n{"name": "time"').length < 24);
    const tiny = await engine.generate({ ...forced, maxOutputTokens: 2 });
    assert.deepEqual([tiny.finishReason, tiny.usage.outputTokens], ['length', 2]);
    const unknown = { ...forced, toolChoice: { kind: 'function', name: 'rm' } as const };
    await assert.rejects(engine.generate(unknown), { code: 'invalid_request' });
    await assert.rejects(engine.generate(request({ toolChoice: { kind: 'required' } })), { code: 'invalid_request' });
  });
});
