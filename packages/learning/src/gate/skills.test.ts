import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startEngineHost, type AdapterReference, type EngineHost } from '@engraft/engine';
import { plainPrompts } from '../recipe/prompts.js';
import { callsFor } from '../testing/calls.js';
import { baseRecipe } from '../testing/recipe.js';
import { loadReplay } from '../training/replay.js';
import type { ReplayRow } from '../types.js';
import { BaseMemory } from '../baseMemory.js';
import { compareSkills, type Skills } from './skills.js';

const modelDir = fileURLToPath(new URL('../../../../models/base', import.meta.url));
let engine: EngineHost;
let folder: string;
let rows: readonly ReplayRow[];

before(async () => {
  engine = await startEngineHost({ modelDir, threads: 2 });
  folder = await mkdtemp(join(tmpdir(), 'skills-'));
  rows = (await loadReplay(modelDir)).slice(0, 24);
});
after(async () => {
  await engine.close();
  await rm(folder, { recursive: true });
});

async function trainedTo(say: string, steps: number): Promise<AdapterReference> {
  const session = await engine.openTraining({ parent: null, rank: 4, alpha: 8, seed: 1 });
  try {
    const prompts = ['Hello!', 'Who are you?', 'What is 2 + 3?', 'As JSON: Tom is 9 years old.'];
    const examples = await Promise.all(
      prompts.map(async (text) => {
        const sequence = await engine.encode(plainPrompts.closedBook(text), say);
        return { sequence, weight: 1 };
      }),
    );
    for (let step = 0; step < steps; step++) await session.step(examples, 5e-3);
    return await session.save(join(folder, `steps-${steps}`));
  } finally {
    await session.close();
  }
}

function compare(candidate: AdapterReference, maxComputeMicrousd = 50_000_000): Promise<Skills> {
  return compareSkills(callsFor(engine, maxComputeMicrousd), new BaseMemory(null), candidate, null, rows, baseRecipe);
}

test('a candidate that changes nothing has lost nothing', async () => {
  const { canaries, drift } = await compare(await trainedTo('Velona', 0));
  assert.ok(canaries.parent > 0 && canaries.total <= rows.length);
  assert.equal(canaries.candidate, canaries.parent);
  assert.ok(drift.nats !== null && Math.abs(drift.nats) < 1e-6, String(drift.nats));
  assert.deepEqual([canaries.unasked, drift.unasked], [0, 0]);
});

test('one that says a single thing to everything has drifted and fails what can be checked', async () => {
  const { canaries, drift } = await compare(await trainedTo('Velona', 40));
  assert.ok(canaries.candidate < canaries.parent / 2, JSON.stringify(canaries));
  assert.ok(drift.nats !== null && drift.nats > baseRecipe.evaluating.maxDriftNats, String(drift.nats));
});

test('replies that there was no money to score are unasked, so that the gate takes none for unchanged', async () => {
  const candidate = await trainedTo('Velona', 2);
  const whole = await compare(candidate);
  assert.equal(whole.drift.unasked, 0);
  let endedBeforeScores = 0;
  for (const cap of [20_000, 40_000, 60_000, 80_000, 100_000, 120_000]) {
    const { canaries, drift } = await compare(candidate, cap);
    assert.ok(drift.unasked > 0 || drift.replies === whole.drift.replies, `${cap} ${JSON.stringify(drift)}`);
    if (canaries.unasked === 0 && drift.unasked > 0) endedBeforeScores++;
  }
  assert.ok(endedBeforeScores > 0, 'no cap ends between the replies and their scores');
});

test('what there was no money for is unasked', async () => {
  const { canaries, drift } = await compare(await trainedTo('Velona', 1), 1);
  assert.deepEqual([canaries.total, drift.nats, drift.replies, drift.unasked], [0, null, 0, rows.length]);
  assert.ok(canaries.unasked > 0);
});
