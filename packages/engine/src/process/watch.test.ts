import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { beatCodes } from './heartbeat.js';
import { defaultBounds, Watch, type Hang, type Work } from './watch.js';

const { silenceMs, idleMs, runMs } = defaultBounds;
const tickMs = new Watch(defaultBounds, 'serving').intervalMs;

/** Ticks regularly, with a beat after each tick, until the process is to be killed or `ms` have passed. */
function pass(watch: Watch, ms: number, work: Work, beat: string | null): Hang | null {
  for (let passedMs = 0; passedMs < ms && watch.hang === null; passedMs += tickMs) {
    watch.tick(tickMs, work);
    if (beat !== null) watch.hear(beat);
  }
  return watch.hang;
}

function heard(purpose: 'serving' | 'training' = 'serving'): Watch {
  const watch = new Watch(defaultBounds, purpose);
  watch.hear(beatCodes.idled);
  return watch;
}

suite('the watch over an engine', () => {
  test('finds one that is silent unresponsive, and not before its bound', () => {
    const watch = heard();
    assert.equal(pass(watch, silenceMs / 3 - tickMs, 'none', null), null);
    assert.ok(watch.responsive);
    assert.equal(pass(watch, (2 / 3) * silenceMs, 'none', null), null);
    assert.equal(watch.responsive, false);
    assert.equal(pass(watch, tickMs, 'none', null), 'unresponsive');
  });

  test('forgets the silence at the next beat', () => {
    const watch = heard();
    for (let time = 0; time < 10; time += 1) {
      assert.equal(pass(watch, silenceMs - tickMs, 'calls', null), null);
      watch.hear(beatCodes.progressed);
      assert.ok(watch.responsive);
    }
  });

  test('takes an answer for a sign of life', () => {
    const watch = heard();
    for (let time = 0; time < 10; time += 1) {
      assert.equal(pass(watch, silenceMs - tickMs, 'calls', null), null);
      watch.answered();
      assert.ok(watch.responsive);
    }
  });

  test('has more patience with one that starts, and with one that gives way', () => {
    for (const watch of [new Watch(defaultBounds, 'serving'), heard('training')]) {
      assert.equal(pass(watch, 2 * silenceMs, 'load', null), null);
      assert.equal(pass(watch, 2 * silenceMs, 'load', null), 'unresponsive');
    }
  });

  test('finds one stalled whose calls wait while it computes nothing', () => {
    assert.equal(pass(heard(), idleMs - tickMs, 'calls', beatCodes.idled), null);
    assert.equal(pass(heard(), idleMs, 'calls', beatCodes.idled), 'stalled');
    assert.equal(pass(heard(), idleMs, 'load', beatCodes.idled), 'stalled');
  });

  test('waits for a run that computes, but not for ever', () => {
    assert.equal(pass(heard(), runMs - tickMs, 'calls', beatCodes.computed), null);
    assert.equal(pass(heard(), runMs, 'calls', beatCodes.computed), 'stalled');
    assert.equal(pass(heard(), 2 * runMs, 'load', beatCodes.computed), null, 'a model that takes long to load');
  });

  test('never finds one stalled that ends runs, that answers, or that has nothing to do', () => {
    assert.equal(pass(heard(), 2 * runMs, 'calls', beatCodes.progressed), null);
    assert.equal(pass(heard(), 2 * runMs, 'none', beatCodes.idled), null);
    const watch = heard();
    for (let time = 0; time < 10; time += 1) {
      assert.equal(pass(watch, idleMs - tickMs, 'calls', beatCodes.idled), null);
      watch.answered();
    }
  });

  test('counts the time of a call from the call on', () => {
    const watch = heard();
    pass(watch, 10 * idleMs, 'none', beatCodes.idled);
    assert.equal(pass(watch, idleMs - tickMs, 'calls', beatCodes.idled), null);
  });

  test('counts no time in which the host itself did not run, however long and often that was', () => {
    const suspension = fc.record({ elapsedMs: fc.double({ min: 0, max: 1e9, noNaN: true }), beats: fc.nat(3) });
    const work = fc.constantFrom<Work>('load', 'calls', 'none');
    fc.assert(
      fc.property(fc.array(suspension, { maxLength: 50 }), work, (suspensions, given) => {
        const watch = heard();
        for (const { elapsedMs, beats } of suspensions) {
          // The late timer runs first. The pipe is read after it.
          watch.tick(elapsedMs, given);
          assert.equal(watch.hang, null);
          watch.hear(beatCodes.progressed.repeat(beats + 1));
          assert.ok(watch.responsive);
        }
      }),
    );
  });
});
