import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { EngineHost } from '@engraft/engine';
import { pino } from 'pino';
import { z } from 'zod';
import { peakMemory } from '../models/peakMemory.js';
import { type EngineConfig, loadEngine, type LoadedEngine } from './model.js';
import { tellFit } from './tellFit.js';

const modelFolder = fileURLToPath(new URL('../../../../models/base', import.meta.url));
const lineSchema = z.object({ serving_bytes: z.number(), learning_bytes: z.number(), msg: z.string() });

let config: EngineConfig;
let loaded: LoadedEngine<EngineHost>;
before(async () => {
  const dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-fit-'));
  const unbounded = { cacheBytes: null, adapterBytes: null, teacher: null };
  config = { modelFolder, dataFolder, weights: 'f32', ...unbounded };
  loaded = await loadEngine(config, pino({ level: 'silent' }));
});
after(async () => {
  await loaded.engine.close();
  await rm(config.dataFolder, { recursive: true });
});

async function told(): Promise<string> {
  const output = new PassThrough();
  await tellFit(config, loaded, pino(output));
  return String(output.read() ?? '');
}

test('a first start is told in sentences what the model takes', async () => {
  const { msg, serving_bytes } = lineSchema.parse(JSON.parse(await told()));
  assert.match(
    msg,
    /^Serving takes about .+ of memory, learning about .+ more; there are .+\. 1,000 characters take about/,
  );
  assert.match(
    msg,
    /to learn: some .+ steps of training\. An answer of 50 tokens takes about .+ seconds\. `engraft model check`/,
  );
  const { pid } = loaded.engine;
  const peak = pid === undefined ? null : await peakMemory(pid);
  if (peak !== null) assert.ok(peak < 3 * serving_bytes && serving_bytes < 3 * peak, `${serving_bytes} of ${peak}`);
});

test('an engine that is closed meanwhile stops nothing', async () => {
  await loaded.engine.close();
  assert.equal(await told(), '');
});
