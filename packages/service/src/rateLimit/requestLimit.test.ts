import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createRequestLimit } from './requestLimit.js';

describe('a limit in memory', () => {
  test('takes and refuses as a bucket of tokens does that fills evenly', () => {
    const wait = fc.record({ wait_ms: fc.nat(400) });
    const steps = fc.array(fc.oneof({ weight: 2, arbitrary: fc.constant('take' as const) }, wait), { maxLength: 200 });
    // Steps of whole milliseconds, so that both count exactly.
    const rates = fc.record({
      burst_requests: fc.integer({ min: 1, max: 20 }),
      requests_per_second: fc.constantFrom(1, 5, 20, 100),
    });
    const check = (
      rate: { burst_requests: number; requests_per_second: number },
      given: readonly ('take' | { wait_ms: number })[],
    ) => {
      let now = 1_000;
      const limit = createRequestLimit({ ...rate, callers_max: 10, now_ms: () => now });
      const stepMs = 1_000 / rate.requests_per_second;
      // The model: milliseconds that are saved up.
      let savedMs = rate.burst_requests * stepMs;
      for (const step of given) {
        if (step !== 'take') {
          now += step.wait_ms;
          savedMs = Math.min(rate.burst_requests * stepMs, savedMs + step.wait_ms);
          continue;
        }
        const { kind, remaining_requests, retry_after_ms } = limit.take('caller');
        assert.equal(kind, savedMs >= stepMs ? 'taken' : 'refused');
        if (kind === 'taken') savedMs -= stepMs;
        assert.equal(remaining_requests, Math.floor(savedMs / stepMs));
        assert.equal(retry_after_ms, Math.max(0, stepMs - savedMs));
      }
    };
    fc.assert(fc.property(rates, steps, check));
  });

  test('counts each caller apart, and not what is given back', () => {
    const limit = createRequestLimit({ burst_requests: 2, requests_per_second: 1, callers_max: 10, now_ms: () => 0 });
    const take = (caller: string): string => limit.take(caller).kind;
    assert.deepEqual([take('a'), take('a'), take('a'), take('b')], ['taken', 'taken', 'refused', 'taken']);
    limit.giveBack('a');
    assert.deepEqual([take('a'), take('a')], ['taken', 'refused']);
    limit.giveBack('unknown');
  });

  test('gives nobody more than a full bucket for what is given back late', () => {
    let now = 0;
    const limit = createRequestLimit({ burst_requests: 2, requests_per_second: 1, callers_max: 10, now_ms: () => now });
    limit.take('a');
    now = 60_000;
    limit.giveBack('a');
    assert.deepEqual(
      [1, 2, 3].map(() => limit.take('a').kind),
      ['taken', 'taken', 'refused'],
    );
  });

  test('remembers so many callers, and forgets the one that was taken longest ago', () => {
    const limit = createRequestLimit({ burst_requests: 1, requests_per_second: 1, callers_max: 2, now_ms: () => 0 });
    for (const caller of ['a', 'b']) limit.take(caller);
    assert.equal(limit.take('a').kind, 'refused');
    limit.take('c');
    assert.deepEqual(
      ['b', 'c', 'a'].map((caller) => limit.take(caller).kind),
      ['refused', 'refused', 'taken'],
    );
  });
});
