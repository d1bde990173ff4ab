import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { computeChargeMicrousd, currentPriceCard } from '@engraft/contract';
import fc from 'fast-check';
import type { InferenceJobRequest } from '../jobs/jobRequest.js';
import { priceRequest } from './priceRequest.js';

const request: InferenceJobRequest = {
  kind: 'inference',
  messages: [{ role: 'user', content: 'question' }],
  tools: [],
  tool_choice: 'auto',
  parallel_tool_calls: true,
  response_format: { type: 'text' },
  max_output_tokens: 100,
  temperature: 0,
};

const meter = (inputTokens: number, contextLength: number) => ({ countTokens: () => inputTokens, contextLength });

describe('an inference reserves', () => {
  test('"the exact token count of the rendered prompt at the input rate plus the effective output ceiling at the output rate"', async () => {
    const price = await priceRequest(request, meter(7, 4_096), currentPriceCard);
    assert.deepEqual(price, { kind: 'priced', request, reserved_microusd: 7 * 12 + 100 * 30 });
  });

  test('"that ceiling is the smaller of the request\'s and what the context leaves"', async () => {
    const price = await priceRequest(request, meter(4_000, 4_096), currentPriceCard);
    assert.deepEqual(price, {
      kind: 'priced',
      request: { ...request, max_output_tokens: 96 },
      reserved_microusd: 4_000 * 12 + 96 * 30,
    });
  });

  test('nothing when "the rendered prompt leaves no room for one output token"', async () => {
    for (const inputTokens of [4_096, 5_000]) {
      const price = await priceRequest(request, meter(inputTokens, 4_096), currentPriceCard);
      assert.deepEqual(price, { kind: 'context_length_exceeded' });
    }
    const last = await priceRequest(request, meter(4_095, 4_096), currentPriceCard);
    assert.equal(last.kind, 'priced');
  });

  test('enough: `charged = compute + storage ≤ reserved` whatever the model then uses', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(8_000), fc.nat(8_000), fc.nat(8_000), async (inputTokens, cached, written) => {
        const price = await priceRequest(request, meter(inputTokens, 4_096), currentPriceCard);
        if (price.kind !== 'priced' || price.request.kind !== 'inference') return;
        const usage = {
          input_tokens: inputTokens,
          cached_input_tokens: Math.min(cached, inputTokens),
          output_tokens: Math.min(written, price.request.max_output_tokens),
          training_tokens: 0,
        };
        assert.ok(computeChargeMicrousd(usage, currentPriceCard) <= price.reserved_microusd);
      }),
    );
  });
});

test('learning: "Admission reserves `max_cost_microusd`"', async () => {
  const learning = { kind: 'internalization', content: 'x', max_cost_microusd: 1_234_567, activate: true } as const;
  const price = await priceRequest(learning, meter(0, 1), currentPriceCard);
  assert.deepEqual(price, { kind: 'priced', request: learning, reserved_microusd: 1_234_567 });
});
