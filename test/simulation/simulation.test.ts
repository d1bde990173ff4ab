import { describe, it } from 'node:test';
import fc from 'fast-check';
import { operation, type Operation } from './operations.js';
import { play } from './player.js';

/** Some 230 on average. */
const steps_max = 300;
const default_histories = 12;

/** Lets the simulation run for hours, or repeat a run; see CONTRIBUTING.md. */
const {
  ENGRAFT_SIMULATION_MINUTES: minutes,
  ENGRAFT_SIMULATION_SEED: seed,
  ENGRAFT_SIMULATION_PATH: path,
} = process.env;

describe('a simulation of clients, operators, workers, death and time', () => {
  it('loses nothing, charges nothing twice and lets nobody in, in any order of what may happen', async (test) => {
    let [histories, steps] = [0, 0];
    const counted = async (history: readonly Operation[]): Promise<void> => {
      [histories, steps] = [histories + 1, steps + history.length];
      await play(history);
    };
    await fc.assert(fc.asyncProperty(fc.array(operation, { maxLength: steps_max, size: 'max' }), counted), {
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
    test.diagnostic(`${histories} histories of ${steps} steps`);
  });
});
