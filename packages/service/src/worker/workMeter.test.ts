import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { TokenUsage } from '@engraft/contract';
import { addTokens, noTokens } from './tokenCounts.js';
import { WorkMeter, type ClaimStart } from './workMeter.js';

const firstClaim: ClaimStart = { usage: noTokens, kept: noTokens, taken_over: false };
const input = (inputTokens: number): TokenUsage => ({ ...noTokens, input_tokens: inputTokens });
const training = (trainingTokens: number): TokenUsage => ({ ...noTokens, training_tokens: trainingTokens });

describe('"repeated work after a crash of ours is logged and metered apart, in neither `usage` nor the charge"', () => {
  it('repeats nothing where nothing was lost', () => {
    const work = new WorkMeter(firstClaim);
    work.done(input(7));
    work.stored('teaching', input(7));
    work.done(training(5));
    work.kept(training(5));
    work.stored('training', training(5));
    const charged = addTokens(input(7), training(5));
    assert.deepEqual(work.end('charged', charged), { charged, waived: noTokens, repeated: noTokens });
  });

  it('counts a call that the engine lost by the one that took its place', () => {
    const work = new WorkMeter(firstClaim);
    work.lostCall();
    work.lostCall();
    work.done(input(9));
    work.done(input(9));
    work.done(input(1));
    assert.deepEqual(work.end('charged', input(19)).repeated, input(18));
  });

  it('counts the steps since the snapshot from which a training goes on', () => {
    const work = new WorkMeter(firstClaim);
    work.done(training(40));
    work.kept(training(40));
    work.done(training(15));
    // Lost with the engine's process; it goes on from 40, and comes to 60.
    work.done(training(20));
    work.stored('training', training(60));
    assert.deepEqual(work.end('charged', training(60)).repeated, training(15));
  });

  it('counts what is handed back and not kept, and leaves the rest to the claim that goes on', () => {
    const drained = new WorkMeter(firstClaim);
    drained.done(input(30));
    drained.stored('teaching', input(30));
    drained.done(training(50));
    drained.kept(training(45));
    assert.deepEqual(drained.end('handed_back').repeated, training(5));

    const next = new WorkMeter({ usage: input(30), kept: training(45), taken_over: false });
    next.done(training(55));
    next.stored('training', training(100));
    assert.deepEqual(next.end('charged', addTokens(input(30), training(100))).repeated, noTokens);
  });

  it('counts a training that is begun anew, as its snapshot could not be used', () => {
    const work = new WorkMeter({ usage: noTokens, kept: training(45), taken_over: false });
    work.done(training(100));
    work.stored('training', training(100));
    assert.deepEqual(work.end('charged', training(100)).repeated, training(45));
  });

  it('counts the phase that is done in place of one whose worker died, and no later one', () => {
    const work = new WorkMeter({ usage: input(10), kept: noTokens, taken_over: true });
    work.done(input(8));
    work.stored('scoring', input(8));
    work.done(training(50));
    work.stored('training', training(50));
    const charged = addTokens(input(18), training(50));
    assert.deepEqual(work.end('charged', charged), { charged, waived: noTokens, repeated: input(8) });
  });

  it('calls what a failed job used waived, whichever claim did it', () => {
    const work = new WorkMeter({ usage: input(10), kept: training(3), taken_over: false });
    work.done(input(8));
    const waived = addTokens(input(18), training(3));
    assert.deepEqual(work.end('waived'), { charged: noTokens, waived, repeated: noTokens });
  });

  it('counts nothing for a claim that lost its job, as the next one does', () => {
    const work = new WorkMeter(firstClaim);
    work.done(input(8));
    assert.deepEqual(work.end('lost'), { charged: noTokens, waived: noTokens, repeated: noTokens });
  });

  it('never loses a token: what all claims of a job did is charged or repeated', () => {
    const claims = fc.array(fc.record({ done: fc.nat(500), kept: fc.double({ min: 0, max: 1, noNaN: true }) }), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(claims, (runs) => {
        let [kept, done, repeated, charged] = [0, 0, 0, 0];
        runs.forEach((run, index) => {
          const work = new WorkMeter({ ...firstClaim, kept: training(kept) });
          work.done(training(run.done));
          done += run.done;
          const reached = kept + run.done;
          if (index === runs.length - 1) {
            work.stored('training', training(reached));
            const report = work.end('charged', training(reached));
            charged += report.charged.training_tokens;
            repeated += report.repeated.training_tokens;
            return;
          }
          kept += Math.floor(run.done * run.kept);
          work.kept(training(kept));
          repeated += work.end('handed_back').repeated.training_tokens;
        });
        assert.equal(done, charged + repeated);
      }),
    );
  });
});
