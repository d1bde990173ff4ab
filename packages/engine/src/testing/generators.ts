/** Generators and their jobs for tests. */
import { join } from 'node:path';
import { openCheckpoint } from '../checkpoint/checkpoint.js';
import type { GenerationJob } from '../scheduling/generationJob.js';
import { Generator } from '../scheduling/generator.js';
import type { LoadedModel } from '../inference/modelRunner.js';
import { loadAdapter, type LoadedAdapter } from '../adapters/loadedAdapter.js';
import { SharedWeights } from '../model/sharedWeights.js';
import { createRandom } from '../support/random.js';
import { withRandomCheckpoint, writeRandomAdapter } from './randomCheckpoint.js';
import type { JobChanges } from './runs.js';
import { referenceFor, TestAdapters } from './testAdapters.js';

export interface GeneratorSetting {
  readonly generator: Generator;
  readonly adapters: TestAdapters;
  readonly adapter: LoadedAdapter;
  readonly model: LoadedModel;
}

/** Runs `use` with a generator for batches of three over a random model, and an adapter for it. */
export async function withGenerator(use: (setting: GeneratorSetting) => Promise<void>): Promise<void> {
  await withRandomCheckpoint(async (folder) => {
    const { config, weights } = await openCheckpoint(join(folder, 'model'));
    const model = { config, weights: await SharedWeights.open(config, weights), threads: 1 };
    const adapters = new TestAdapters();
    const generator = new Generator(model, adapters, 3);
    const reference = await writeRandomAdapter(join(folder, 'adapter'), config, 1);
    try {
      await use({ generator, adapters, adapter: await loadAdapter(reference, config), model });
    } finally {
      await generator.close();
    }
  });
}

/** Twelve tokens after a prompt of three. */
export const job = ({ adapter = null, ...changes }: JobChanges = {}): GenerationJob => ({
  prompt: [7, 11, 13],
  forced: [],
  maxOutputTokens: 12,
  stopTokens: new Set(),
  temperature: 0,
  random: createRandom(1),
  adapter: referenceFor(adapter),
  ...changes,
});

/** A fault injector for `isComplete` that throws at the third token. */
export function failAtThirdToken(output: readonly number[]): boolean {
  if (output.length === 3) throw new Error('injected');
  return false;
}
