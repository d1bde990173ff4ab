import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Played } from './player.js';
import { simulate } from './simulate.js';

/** Lets the simulation run for hours, or repeat a run; see CONTRIBUTING.md. */
const {
  ENGRAFT_SIMULATION_MINUTES: minutes,
  ENGRAFT_SIMULATION_SEED: seed,
  ENGRAFT_SIMULATION_PATH: path,
} = process.env;

describe('a simulation of clients, operators, workers, death and time', () => {
  it('loses nothing, charges nothing twice and lets nobody in, in any order of what may happen', async (test) => {
    const all: Played[] = [];
    await simulate({
      ...(minutes === undefined ? {} : { minutes: Number(minutes) }),
      ...(seed === undefined ? {} : { seed: Number(seed) }),
      ...(path === undefined ? {} : { path }),
      onPlayed: (played) => all.push(played),
    });
    const sum = (count: (played: Played) => number): number => all.reduce((total, played) => total + count(played), 0);
    const [faults, leaksTried] = [sum((played) => played.faults), sum((played) => played.leaks_tried)];
    test.diagnostic(
      `${all.length} histories of ${sum(({ steps }) => steps)} steps, with ${faults} faults, ${leaksTried} trespasses`,
    );
    // A repeated history may be short.
    if (path === undefined) assert.ok(faults > 20 && leaksTried > 0, `${faults} faults, ${leaksTried} trespasses`);
  });
});
