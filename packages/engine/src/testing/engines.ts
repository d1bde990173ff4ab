/** Engines over random models, and their requests, for tests. */
import { join } from 'node:path';
import { EmbeddedEngine } from '../embeddedEngine.js';
import type { WeightFormat } from '../model/quantization.js';
import type { AdapterReference, ChatPrompt, GenerateRequest, GenerateResult } from '../types.js';
import { withRandomCheckpoint, writeRandomAdapter } from './randomCheckpoint.js';

export interface EngineSetting {
  readonly engine: EmbeddedEngine;
  /** No adapter, three adapters of different ranks, and one that has several ranks and skips some projections. */
  readonly adapters: readonly (AdapterReference | null)[];
}

/** An adapter on three of the projections, one of which has a rank of its own. */
export const uneven = { targets: ['q_proj', 'v_proj', 'down_proj'], rankPattern: new Map([['v_proj', 18]]) };

/** Runs `use` with an engine over a random model, for batches of three. */
export async function withEngine(
  use: (setting: EngineSetting) => Promise<void>,
  weightFormat: WeightFormat = 'f32',
): Promise<void> {
  await withRandomCheckpoint(async (folder, config) => {
    const adapters = await Promise.all(
      [2, 4, 7].map((rank) => writeRandomAdapter(join(folder, `adapter-${rank}`), config, rank, rank)),
    );
    adapters.push(await writeRandomAdapter(join(folder, 'uneven'), config, 1, 3, uneven));
    const modelDir = join(folder, 'model');
    const engine = await EmbeddedEngine.open({ modelDir, threads: 1, maxBatch: 3, weightFormat });
    try {
      await use({ engine, adapters: [null, ...adapters] });
    } finally {
      await engine.close();
    }
  });
}

export const user = (content: string): ChatPrompt => ({ messages: [{ role: 'user', content }] });

export const request = (changes: Partial<GenerateRequest> = {}): GenerateRequest => ({
  prompt: user('Who built it?'),
  adapter: null,
  maxOutputTokens: 24,
  temperature: 0,
  ...changes,
});

/** Leaves out the figures that depend on the other requests in the batch. */
export const essence = ({ text, finishReason, usage }: GenerateResult) => ({ text, finishReason, usage });
