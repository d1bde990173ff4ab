import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '@engraft/engine';
import { scriptedEngine } from '../testing/scriptedEngine.js';
import { NoTrainingProcess } from './noTrainingProcess.js';
import { observedEngine } from './observedEngine.js';

test('a missing process to train in is told from a missing one to answer with', async () => {
  // A fault injector: no process can be started.
  const lacking = () => Promise.reject(new EngineError('not_running', 'a process could not be started'));
  const ignored = () => undefined;
  const engine = observedEngine(
    { ...scriptedEngine(lacking), openTraining: lacking },
    { begun: () => ({ succeeded: ignored, failed: ignored }), done: ignored, lost: ignored },
  );
  const opening = engine.openTraining({ parent: null, rank: 2, alpha: 2, seed: 1 });
  await assert.rejects(opening, (error) => error instanceof NoTrainingProcess && error.code === 'not_running');
  const prompt = { messages: [{ role: 'user', content: 'Hello?' }] } as const;
  const answer = engine.generate({ prompt, adapter: null, maxOutputTokens: 1, temperature: 0 });
  await assert.rejects(answer, (error) => error instanceof EngineError && !(error instanceof NoTrainingProcess));
});
