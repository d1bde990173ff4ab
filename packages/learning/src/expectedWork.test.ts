import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { after, before, test } from 'node:test';
import { startEngineHost, type EngineHost } from '@engraft/engine';
import { defaultRecipe, withSentences } from './recipe/defaults.js';
import { expectedWork } from './expectedWork.js';
import { plainText } from './text/plainText.js';
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

test('a table counts as the sentences that it stands for', async () => {
  const rows = Array.from({ length: 12 }, (_, index) => `Lamp ${index},${30 + index} kg,$${80 + index},Oslo`);
  const table = ['Product,Weight,Price,City', ...rows].join('\n');
  const plain = plainText(table);
  assert.notEqual(plain, table);
  const of = (text: string) => expectedWork(engine, 'model', withSentences(defaultRecipe(135e6)), text);
  assert.deepEqual(await of(table), await of(plain));
});

test('the longer the sentences of a passage, the more a step trains where they are the answers', async () => {
  const short = 'The lamp is red. The cup is blue. The box is old. The key is lost. ';
  const long = 'The lamp is red and the cup is blue and the box is old and the key is lost. ';
  const trained = async (text: string): Promise<number> => {
    const { trainedTokens, steps } = await expectedWork(engine, 'english', withSentences(defaultRecipe(6e6)), text);
    return trainedTokens / steps;
  };
  assert.ok((await trained(long)) > (await trained(short)));
  assert.equal(await trained(long.repeat(3)), await trained(long.repeat(6)));
});
