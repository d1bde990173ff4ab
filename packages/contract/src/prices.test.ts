import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { computeChargeMicrousd, currentPriceCard, storageChargeMicrousd } from './prices.js';

const none = { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0, training_tokens: 0 };

describe('"Published rates"', () => {
  test('"input 12 micro-USD per token, output 30, training 36 USD per million tokens"', () => {
    assert.equal(computeChargeMicrousd({ ...none, input_tokens: 1 }, currentPriceCard), 12);
    assert.equal(computeChargeMicrousd({ ...none, output_tokens: 1 }, currentPriceCard), 30);
    assert.equal(computeChargeMicrousd({ ...none, training_tokens: 1_000_000 }, currentPriceCard), 36_000_000);
  });

  test('"verified cached input 2.5 (cached tokens replace, not add to, ordinary input charge)"', () => {
    const usage = { ...none, input_tokens: 10, cached_input_tokens: 4 };
    assert.equal(computeChargeMicrousd(usage, currentPriceCard), 6 * 12 + 10);
    assert.throws(() => computeChargeMicrousd({ ...none, cached_input_tokens: 1 }, currentPriceCard), RangeError);
  });

  test('"hosting 0.3 USD per GB-month prorated by retained checkpoint size and time"', () => {
    const monthSeconds = 30 * 86_400;
    assert.equal(storageChargeMicrousd(1_000_000_000, monthSeconds, currentPriceCard), 300_000);
    assert.equal(storageChargeMicrousd(1_000_000_000, monthSeconds / 30, currentPriceCard), 10_000);
    assert.equal(storageChargeMicrousd(1, 1, currentPriceCard), 1);
    assert.equal(storageChargeMicrousd(0, monthSeconds, currentPriceCard), 0);
  });
});

test('"summed in nano-USD and rounded up once"', () => {
  assert.equal(computeChargeMicrousd({ ...none, input_tokens: 1, cached_input_tokens: 1 }, currentPriceCard), 3);
  assert.equal(computeChargeMicrousd({ ...none, input_tokens: 2, cached_input_tokens: 2 }, currentPriceCard), 5);
});

test('a charge is exact: it grows by its rate with each token, and never shrinks', () => {
  const tokens = fc.nat(1_000_000_000);
  fc.assert(
    fc.property(tokens, tokens, tokens, (inputTokens, outputTokens, trainingTokens) => {
      const usage = {
        ...none,
        input_tokens: inputTokens,
        output_tokens: outputTokens,
        training_tokens: trainingTokens,
      };
      assert.equal(
        computeChargeMicrousd(usage, currentPriceCard),
        inputTokens * 12 + outputTokens * 30 + trainingTokens * 36,
      );
    }),
  );
});
