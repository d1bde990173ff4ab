import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import pino from 'pino';
import { readConfig } from '../config/config.js';
import { loadEngine } from './model.js';

test('the shipped model answers with weights of 8 bits, which are kept in the data folder, and within the bounds', async (t) => {
  const dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-model-'));
  t.after(() => rm(dataFolder, { recursive: true }));
  const env = { ENGRAFT_WEIGHTS: 'q8', ENGRAFT_CACHE_BYTES: String(2 ** 23), ENGRAFT_ADAPTER_BYTES: String(2 ** 20) };
  const { engine } = await loadEngine(readConfig({ data: dataFolder }, env), pino({ level: 'silent' }));
  t.after(() => engine.close());
  assert.match((await readdir(path.join(dataFolder, 'weights'))).join(), /^sha256-[0-9a-f]{64}\.q8\.v\d+$/);
  const passage = 'Answer from this passage.\n\nThe lighthouse of Varn was built by Ada Kell in 1911.';
  const messages = [
    { role: 'system', content: passage },
    { role: 'user', content: 'Who built the lighthouse of Varn?' },
  ] as const;
  const request = {
    prompt: { messages },
    adapter: null,
    maxOutputTokens: 24,
    temperature: 0,
  } as const;
  const { text, finishReason } = await engine.generate(request);
  assert.match(text, /Ada Kell/);
  assert.equal(finishReason, 'stop');
  await assert.rejects(engine.generate({ ...request, maxOutputTokens: 2 ** 14 }), {
    code: 'memory_exceeded',
    message: /8388608 bytes/,
  });
});

test('what lies beside a model for learning is refused by its field, before there is an engine', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'engraft-model-'));
  t.after(() => rm(folder, { recursive: true }));
  const config = { ...readConfig({ data: folder }, {}), modelFolder: folder };
  for (const [preset, message] of [
    [{ teacher: 'latin' }, /learning\.json: teacher: .*"english"/],
    [{ teacher: 'model', teaching_adapter: 'typo' }, /learning\.json: teaching_adapter: .*typo holds no adapter/],
  ] as const) {
    await writeFile(path.join(folder, 'learning.json'), JSON.stringify(preset));
    // `loadModel` turns this kind into a service without a model.
    const expected = { code: 'checkpoint_invalid', message };
    await assert.rejects(loadEngine(config, pino({ level: 'silent' })), expected);
  }
});
