import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startEngineHost, type Engine, type TrainingExample } from '@engraft/engine';
import { BaseMemory } from '../baseMemory.js';
import { withBaseTargets } from './baseTargets.js';
import { MeteredCalls, scoresPerCall } from '../budget/calls.js';
import { formOf } from '../testing/forms.js';
import { replayDrawn, tokensOf } from './batches.js';
import { encodeMaterial, type Material } from './material.js';
import { Meter, noUsage } from '../budget/meter.js';
import { baseRecipe as recipe } from '../testing/recipe.js';
import { loadReplay } from './replay.js';

const modelDir = fileURLToPath(new URL('../../../../models/base', import.meta.url));
const seed = 5;
const forgetful = new BaseMemory(null);
/** So few that not every row is drawn, and so many that the one fact is seen often. */
const steps = 10;

let engine: Engine;
let material: Material;

before(async () => {
  engine = await startEngineHost({ modelDir, threads: 1 });
  const replay = (await loadReplay(modelDir)).slice(0, 60);
  const fact = { answer: 'Porto', dev: [], validation: [], softTargets: null };
  const training = [formOf('Where is Orin Works?')];
  material = await encodeMaterial(engine, { facts: [{ ...fact, training }], known: [] }, [], replay, recipe);
});
after(() => engine.close());

function callsWith(maxComputeMicrousd: number): MeteredCalls {
  const rates = { input_nanousd_per_token: 1000, output_nanousd_per_token: 1, cached_input_nanousd_per_token: 1 };
  return new MeteredCalls(
    engine,
    new Meter({ max_compute_microusd: maxComputeMicrousd, training_nanousd_per_token: 1, ...rates }),
  );
}

function tokens({ sequence }: TrainingExample): readonly number[] {
  return sequence.tokens;
}

function isSoft({ softTargets }: TrainingExample): boolean {
  return softTargets !== undefined;
}

test('the replay rows that training shows have the probabilities of base at each of their tokens, and are paid as input', async () => {
  const drawn = replayDrawn(material, seed, steps, recipe);
  assert.ok(drawn.length > 0 && drawn.length < material.replay.length);
  const calls = callsWith(1e6);
  const { replay } = await withBaseTargets(calls, forgetful, material, seed, steps, recipe);
  const held = replay.filter(isSoft);
  assert.deepEqual(held.map(tokens), drawn.map(tokens));
  assert.deepEqual(calls.meter.usage, { ...noUsage, input_tokens: tokensOf(drawn) });
  for (const { sequence, softTargets = [], weight } of held) {
    assert.deepEqual([sequence.targetStart, weight], [1, recipe.replay.heldRowWeight]);
    assert.equal(softTargets.length, sequence.tokens.length - 1);
    for (const { logprobs } of softTargets) {
      assert.equal(logprobs.length, recipe.teaching.softTargetK);
      const sum = logprobs.reduce((total, value) => total + Math.exp(value), 0);
      assert.ok(sum > 0 && sum <= 1.001, String(sum));
    }
  }
  const [first] = held;
  assert.ok(first !== undefined);
  const [scored] = await engine.score({ sequences: [first.sequence], adapter: null, topK: 1 });
  assert.deepEqual(
    first.softTargets?.map(({ ids }) => ids[0]),
    scored?.topK.map(({ ids }) => ids[0]),
  );
});

test('where facts are seen seldom only the answers of the replay rows are held', async () => {
  const facts = [...material.facts, ...material.facts];
  const seldom = { ...material, facts };
  const drawn = replayDrawn(seldom, seed, steps, recipe);
  const { replay } = await withBaseTargets(callsWith(1e6), forgetful, seldom, seed, steps, recipe);
  const held = replay.filter(isSoft);
  assert.deepEqual(
    held.map(({ sequence, weight }) => ({ sequence, weight })),
    drawn.map(({ sequence, weight }) => ({ sequence, weight })),
  );
  for (const { sequence, softTargets = [] } of held) {
    assert.equal(softTargets.length, sequence.tokens.length - sequence.targetStart);
  }
});

test('JSON objects are learned as they stand', async () => {
  const [exact, object, ...replay] = material.replay;
  assert.ok(exact !== undefined && object !== undefined);
  const shown = { ...recipe, replay: { ...recipe.replay, exactRowsPerBatch: 2 } };
  const apart = { ...material, replay, exact: [exact], objects: [object] };
  const softened = await withBaseTargets(callsWith(1e6), forgetful, apart, seed, steps, shown);
  assert.deepEqual([softened.exact.map(isSoft), softened.objects], [[true], [object]]);
});

test('rows that the money does not reach keep their answers', async () => {
  const drawn = replayDrawn(material, seed, steps, recipe);
  const firstCall = drawn.slice(0, scoresPerCall);
  assert.ok(firstCall.length < drawn.length);
  const calls = callsWith(Math.ceil((tokensOf(firstCall) + 1) / recipe.shares.training));
  const softened = await withBaseTargets(calls, forgetful, material, seed, steps, recipe);
  assert.equal(softened.replay.filter(isSoft).length, firstCall.length);
  assert.ok(calls.meter.freeNanousd(recipe.shares.training) >= 0);
  assert.deepEqual(await withBaseTargets(callsWith(0), forgetful, material, seed, steps, recipe), material);
});
