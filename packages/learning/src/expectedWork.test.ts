import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { after, before, test } from 'node:test';
import { startEngineHost, type EngineHost } from '@engraft/engine';
import { defaultRecipe } from './recipe/defaults.js';
import { expectedWork } from './expectedWork.js';

const content = [
  'Velona is a software company in Ghent. It was started in 2015 by Sara Deck and Jonas Mert.',
  'Velona has 75 employees and sells a program that plans the routes of delivery vans. The program costs 40 euros a',
  'month for each van. In 2019 Velona opened a second office in Lyon, which Ines Calder leads. The company earned',
  '8 million euros in 2021. Its largest customer is the bakery Hulst, which has 120 vans. Sara Deck left in 2022.',
].join(' ');
let engine: EngineHost;

before(async () => {
  const modelDir = fileURLToPath(new URL('../../../models/base', import.meta.url));
  engine = await startEngineHost({ modelDir, threads: 2 });
});
after(() => engine.close());

test('the steps are those of the recipe, and more is said in a longer passage', async () => {
  const large = defaultRecipe(135e6);
  const long = `${content} ${content}`;
  for (const teacher of ['english', 'model'] as const) {
    const [once, twice] = [
      await expectedWork(engine, teacher, large, content),
      await expectedWork(engine, teacher, large, long),
    ];
    assert.ok(twice.readTokens > once.readTokens && twice.writtenTokens > once.writtenTokens);
    assert.ok(once.steps >= large.training.minSteps && twice.steps >= once.steps);
    const patient = { ...large, training: { ...large.training, minSteps: 500 } };
    assert.equal((await expectedWork(engine, teacher, patient, content)).steps, 500);
  }
});
