import { describe, it } from 'node:test';
import fc from 'fast-check';
import { operation } from './operations.js';
import { play } from './player.js';

/** Half as many on average. */
const steps_max = 300;
const default_histories = 20;

/** For hours, and the same again; see CONTRIBUTING.md. */
const {
  ENGRAFT_SIMULATION_MINUTES: minutes,
  ENGRAFT_SIMULATION_SEED: seed,
  ENGRAFT_SIMULATION_PATH: path,
} = process.env;

describe('a simulation of clients, operators, workers, death and time', () => {
  it('loses nothing, charges nothing twice and lets nobody in, in any order of what may happen', async () => {
    await fc.assert(fc.asyncProperty(fc.array(operation, { maxLength: steps_max, size: 'max' }), play), {
      ...(minutes === undefined
        ? { numRuns: default_histories }
        : {
            numRuns: Number.MAX_SAFE_INTEGER,
            interruptAfterTimeLimit: Number(minutes) * 60_000,
            markInterruptAsFailure: false,
          }),
      ...(seed === undefined ? {} : { seed: Number(seed) }),
      ...(path === undefined ? {} : { path }),
    });
  });
});
