import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toRows } from './passageTraining.mjs';
import { Recording, recordingEngine } from './recordedTraining.mjs';

const example = { sequence: { tokens: [5, 6, 7], targetStart: 2 }, weight: 2 };

test('a recording keeps the steps of the last training, and lets none end early', async () => {
  const recording = new Recording();
  await recording.open({ rank: 4 }).step([example], 0.1);
  const session = recording.open({ rank: 8 });
  assert.equal((await session.step([example, example], 0.2)).tokens, 6);
  const losses = [];
  for (let interval = 0; interval < 10; interval += 1) losses.push((await session.evaluate([example])).loss);
  assert.ok(losses.every((loss, index) => index === 0 || loss < losses[index - 1]));
  assert.deepEqual(recording.options, { rank: 8 });
  assert.deepEqual(recording.steps, [{ batch: [example, example], rate: 0.2 }]);
});

test('rows have hard targets that count alike where nothing else is given', () => {
  const softTargets = [{ ids: [7, 8], logprobs: [-0.1, -3] }];
  const row = { tokens: [5, 6, 7], target_start: 2, weight: 2, soft_targets: null, target_weights: null };
  assert.deepEqual(toRows([example, { ...example, softTargets }, { ...example, targetWeights: [3] }]), [
    row,
    { ...row, soft_targets: softTargets },
    { ...row, target_weights: [3] },
  ]);
});

test('an engine that records trainings makes every other call as before', async () => {
  class Host {
    #forgotten = [];
    forgetPrefixes(key) {
      this.#forgotten.push(key);
      return this.#forgotten;
    }
    openTraining() {
      assert.fail('the engine trains');
    }
  }
  const recording = new Recording();
  const engine = recordingEngine(new Host(), recording);
  assert.deepEqual(engine.forgetPrefixes('a'), ['a']);
  assert.equal(await engine.openTraining({ rank: 4 }), recording);
});
