import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createRequestLimit } from './requestLimit.js';

describe('a limit in memory', () => {
  test('takes and refuses as a bucket of tokens does that fills evenly', () => {
    const wait = fc.record({ waitMs: fc.nat(400) });
    const steps = fc.array(fc.oneof({ weight: 2, arbitrary: fc.constant('take' as const) }, wait), { maxLength: 200 });
    // Steps of whole milliseconds, so that both count exactly.
    const rates = fc.record({
      burstRequests: fc.integer({ min: 1, max: 20 }),
      requestsPerSecond: fc.constantFrom(1, 5, 20, 100),
    });
    const check = (
      rate: { burstRequests: number; requestsPerSecond: number },
      given: readonly ('take' | { waitMs: number })[],
    ) => {
      let now = 1_000;
      const limit = createRequestLimit({ ...rate, maxCallers: 10, nowMs: () => now });
      const stepMs = 1_000 / rate.requestsPerSecond;
      // The model: milliseconds that are saved up.
      let savedMs = rate.burstRequests * stepMs;
      for (const step of given) {
        if (step !== 'take') {
          now += step.waitMs;
          savedMs = Math.min(rate.burstRequests * stepMs, savedMs + step.waitMs);
          continue;
        }
        const { kind, remainingRequests, retryAfterMs } = limit.take('caller');
        assert.equal(kind, savedMs >= stepMs ? 'taken' : 'refused');
        if (kind === 'taken') savedMs -= stepMs;
        assert.equal(remainingRequests, Math.floor(savedMs / stepMs));
        assert.equal(retryAfterMs, Math.max(0, stepMs - savedMs));
      }
    };
    fc.assert(fc.property(rates, steps, check));
  });

  test('counts each caller apart, and not what is given back', () => {
    const limit = createRequestLimit({ burstRequests: 2, requestsPerSecond: 1, maxCallers: 10, nowMs: () => 0 });
    const take = (caller: string): string => limit.take(caller).kind;
    assert.deepEqual([take('a'), take('a'), take('a'), take('b')], ['taken', 'taken', 'refused', 'taken']);
    limit.giveBack('a');
    assert.deepEqual([take('a'), take('a')], ['taken', 'refused']);
    limit.giveBack('unknown');
  });

  test('gives nobody more than a full bucket for what is given back late', () => {
    let now = 0;
    const limit = createRequestLimit({ burstRequests: 2, requestsPerSecond: 1, maxCallers: 10, nowMs: () => now });
    limit.take('a');
    now = 60_000;
    limit.giveBack('a');
    assert.deepEqual(
      [1, 2, 3].map(() => limit.take('a').kind),
      ['taken', 'taken', 'refused'],
    );
  });

  test('remembers so many callers, and forgets the one that was taken longest ago', () => {
    const limit = createRequestLimit({ burstRequests: 1, requestsPerSecond: 1, maxCallers: 2, nowMs: () => 0 });
    for (const caller of ['a', 'b']) limit.take(caller);
    assert.equal(limit.take('a').kind, 'refused');
    limit.take('c');
    assert.deepEqual(
      ['b', 'c', 'a'].map((caller) => limit.take(caller).kind),
      ['refused', 'refused', 'taken'],
    );
  });
});
