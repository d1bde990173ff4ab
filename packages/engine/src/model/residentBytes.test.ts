import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { EmbeddedEngine } from '../embeddedEngine.js';
import { withRandomCheckpoint } from '../testing/randomCheckpoint.js';
import type { GenerateRequest, TrainingOptions } from '../types.js';
import { residentBytes } from './residentBytes.js';

const asked: GenerateRequest = {
  prompt: { messages: [{ role: 'user', content: 'Who built it?' }] },
  adapter: null,
  maxOutputTokens: 4,
  temperature: 0,
};
const fresh: TrainingOptions = { parent: null, rank: 2, alpha: 4, seed: 1 };

test('a machine without room for the weights as float32 generates, scores and trains with fewer bits', async (t) => {
  await withRandomCheckpoint(async (folder, config) => {
    const options = { modelDir: join(folder, 'model'), threads: 1, cacheFolder: join(folder, 'cache') };
    const float = residentBytes(config, 'f32', true);
    // Node.js now reports a machine with less memory.
    const machine = t.mock.method(process, 'constrainedMemory', () => float - 1);
    const tooLarge = {
      name: 'EngineError',
      code: 'memory_exceeded',
      message: new RegExp(`\\(f32\\) take ${float} bytes`),
    };

    await assert.rejects(EmbeddedEngine.open(options), { code: 'checkpoint_invalid', message: /the weights take/ });
    const engine = await EmbeddedEngine.open({ ...options, weightFormat: 'q4' });
    assert.ok((await engine.generate(asked)).usage.outputTokens > 0);
    const sequences = [{ tokens: [1, 2, 3], targetStart: 1 }];
    assert.equal((await engine.score({ sequences, adapter: null, topK: 0 })).length, 1);
    const session = await engine.openTraining(fresh);
    assert.ok((await session.step([{ sequence: sequences[0]!, weight: 1 }], 0)).gradientNorm > 0);
    await session.close();
    await engine.close();
    // A training engine reads no weights before a session is opened.
    const trainer = await EmbeddedEngine.open(options, 'training');
    await assert.rejects(trainer.openTraining(fresh), tooLarge);
    await trainer.close();

    for (const [cacheFolder, inFile] of [
      [options.cacheFolder, true],
      [undefined, false],
    ] as const) {
      const needed = residentBytes(config, 'q4', inFile);
      assert.ok(needed < float);
      const open = (): Promise<EmbeddedEngine> =>
        EmbeddedEngine.open({
          modelDir: options.modelDir,
          threads: 1,
          weightFormat: 'q4',
          ...(cacheFolder === undefined ? {} : { cacheFolder }),
        });
      machine.mock.mockImplementation(() => needed);
      await (await open()).close();
      machine.mock.mockImplementation(() => needed - 1);
      await assert.rejects(open(), {
        code: 'checkpoint_invalid',
        message: `model.safetensors: the weights take ${needed} bytes of memory, and there are ${needed - 1}`,
      });
    }
  });
});
