import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { after, before, test } from 'node:test';
import { startEngineHost, type EngineHost } from '@engraft/engine';
import { defaultRecipe, withSentences } from './recipe/defaults.js';
import { expectedWork } from './expectedWork.js';
import { velona as content } from './testing/passages.js';

let engine: EngineHost;

before(async () => {
  const modelDir = fileURLToPath(new URL('../../../models/base', import.meta.url));
  engine = await startEngineHost({ modelDir, threads: 2 });
});
after(() => engine.close());

test('the steps are those of the recipe, and more is said in a longer passage', async () => {
  const large = defaultRecipe(135e6);
  const long = Array(30).fill(content).join('\n\n');
  for (const teacher of ['english', 'model', 'both'] as const) {
    const [once, twice] = [
      await expectedWork(engine, teacher, large, content),
      await expectedWork(engine, teacher, large, long),
    ];
    assert.ok(twice.readTokens > once.readTokens && twice.writtenTokens > once.writtenTokens);
    assert.ok(
      twice.trainedTokens > once.trainedTokens && once.trainedTokens > once.steps * large.training.pairsPerBatch,
    );
    assert.ok(once.steps >= large.training.minSteps && twice.steps >= once.steps);
    const told = await expectedWork(engine, teacher, withSentences(large), content);
    assert.ok(told.writtenTokens > once.writtenTokens && told.steps >= once.steps);
    const patient = { ...large, training: { ...large.training, minSteps: 500 } };
    assert.equal((await expectedWork(engine, teacher, patient, content)).steps, 500);
  }
});
