import type { Engine } from '@engraft/engine';
import { MeteredCalls } from '../budget/calls.js';
import { Meter } from '../budget/meter.js';

/** Calls metered at ordinary prices. */
export function callsFor(engine: Engine, maxComputeMicrousd: number): MeteredCalls {
  const meter = new Meter({
    max_compute_microusd: maxComputeMicrousd,
    input_nanousd_per_token: 12_000,
    output_nanousd_per_token: 30_000,
    cached_input_nanousd_per_token: 2_500,
    training_nanousd_per_token: 36_000,
  });
  return new MeteredCalls(engine, meter);
}
