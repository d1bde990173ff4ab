// What every bench of learning gives to it.
import { basename, relative } from 'node:path';
import { currentPriceCard } from '../../packages/contract/dist/index.js';
import { startEngineHost } from '../../packages/engine/dist/index.js';
import { loadReplay, replayOf } from '../../packages/learning/dist/index.js';
import { root } from './measure.mjs';

/** What the model is, and what it rehearses. */
export async function describeModel(modelDir) {
  const engine = await startEngineHost({ modelDir });
  const inside = relative(root, modelDir);
  // Where a model lies on this machine says nothing to others.
  const folder = inside.startsWith('..') ? basename(modelDir) : inside;
  const model = { folder, ...(await engine.describe()) };
  const replay = await replayOf(engine, await loadReplay(modelDir));
  await engine.close();
  return { model, replay };
}

/** So many USD at the present prices. */
export function budgetOf(usd) {
  const { input_nanousd_per_token, output_nanousd_per_token } = currentPriceCard;
  const { cached_input_nanousd_per_token, training_nanousd_per_token } = currentPriceCard;
  return {
    max_compute_microusd: Math.round(usd * 1e6),
    input_nanousd_per_token,
    output_nanousd_per_token,
    cached_input_nanousd_per_token,
    training_nanousd_per_token,
  };
}
