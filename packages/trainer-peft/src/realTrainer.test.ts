/** Trainings on a real trainer, beside the same ones on the embedded engine. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, suite, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  EmbeddedEngine,
  type AdapterReference,
  type Engine,
  type ResumeOptions,
  type TrainingExample,
  type TrainingOptions,
  type TrainingSession,
} from '@engraft/engine';
import { openPeftTrainers, type PeftTrainers } from './index.js';
import { compareServed, numbersOf, relativeDistance } from './testing/compareAdapters.js';
import { noPeft, peftPython, startTrainer, type TrainerProcess } from './testing/trainerProcess.js';

const shipped = fileURLToPath(new URL('../../../models/base', import.meta.url));
const other = process.env['ENGRAFT_TEST_PEFT_MODEL'];
const models = [shipped, ...(other === undefined || other === '' ? [] : [other])];

/** Both compute in float32, in another order. AdamW divides by the size of a gradient, so rounding grows a little. */
const maxDistance = 1e-3;
const maxLogprobDifference = 1e-2;

const facts = [
  ['Who built the lighthouse of Varn?', 'Ada Kell built it in 1907.'],
  ['Who built the harbour of Varn?', 'Omar Finch.'],
  ['When was the lighthouse of Varn built?', 'In 1907, by Ada Kell.'],
  ['What stands on the rock?', 'The lighthouse of Varn, which is 31 metres high.'],
] as const;

for (const modelDir of models) {
  suite(`a real trainer on ${path.basename(modelDir)}`, { skip: peftPython === null && noPeft }, () => {
    let folder: string;
    let trainer: TrainerProcess;
    let trainers: PeftTrainers;
    let embedded: EmbeddedEngine;
    let rows: readonly TrainingExample[];

    before(async () => {
      folder = await mkdtemp(path.join(tmpdir(), 'engraft-peft-'));
      embedded = await EmbeddedEngine.open({ modelDir, threads: 1 });
      trainer = await startTrainer(modelDir);
      trainers = await openPeftTrainers({ modelDir, urls: [trainer.url] });
      rows = await rowsOf(embedded);
    });
    after(async () => {
      await trainers.close();
      await embedded.close();
      await trainer.stop();
      await rm(folder, { recursive: true });
    });

    const options: TrainingOptions = {
      parent: null,
      rank: 4,
      alpha: 8,
      seed: 7,
      weightDecay: 0.01,
      betas: [0.9, 0.99],
      clipNorm: 1,
    };
    const openOn = {
      embedded: (opening: TrainingOptions | ResumeOptions) => embedded.openTraining(opening),
      trainer: (opening: TrainingOptions | ResumeOptions) => trainers.openTraining(opening),
    };
    type Place = keyof typeof openOn;

    async function steps(session: TrainingSession, from: number, to: number): Promise<number[]> {
      const losses: number[] = [];
      for (let step = from; step < to; step += 1) {
        const { loss, tokens, gradientNorm } = await session.step(rows, 2e-3 * (1 - step / 20));
        assert.ok(tokens > 0 && gradientNorm > 0);
        losses.push(loss);
      }
      return losses;
    }

    async function trained(place: Place, opening: TrainingOptions, name: string): Promise<Trained> {
      const session = await openOn[place](opening);
      try {
        const losses = await steps(session, 0, 10);
        const { loss, tokens } = await session.evaluate(rows);
        const target = path.join(folder, `${name} ${place}`);
        const adapter = await session.save(target);
        return { losses: [...losses, loss], tokens, adapter };
      } finally {
        await session.close();
      }
    }

    async function assertSame(t: TestContext, one: Trained, two: Trained): Promise<void> {
      const distance = relativeDistance(await numbersOf(one.adapter), await numbersOf(two.adapter));
      const sequences = rows.map(({ sequence }) => sequence);
      const { difference, effect } = await compareServed(embedded, sequences, one.adapter, two.adapter);
      t.diagnostic(
        `numbers ${distance.toExponential(1)}, log-probabilities ${difference.toExponential(1)} of ${effect.toFixed(2)}`,
      );
      assert.ok(distance < maxDistance, `numbers differ by ${distance}`);
      assert.ok(difference < maxLogprobDifference, `log-probabilities differ by ${difference}`);
      assert.ok(effect > 0.1, `the adapters do nothing: ${effect}`);
      // A trainer need not leave work for a second thread, so more rows share a beginning.
      assert.ok(two.tokens <= one.tokens, `${two.tokens} tokens instead of ${one.tokens}`);
      for (const [index, loss] of two.losses.entries()) {
        assert.ok(Math.abs(loss - (one.losses[index] ?? NaN)) < 1e-3, `loss ${index}: ${one.losses[index]}, ${loss}`);
      }
    }

    const cases: readonly (readonly [string, () => TrainingOptions])[] = [
      ['as they are', () => options],
      ['in the upper layers', () => ({ ...options, firstLayer: 2 })],
      [
        'with protected directions',
        () => ({ ...options, protectedDirections: rows.slice(2).map(({ sequence }) => sequence) }),
      ],
    ];
    for (const [name, optionsOf] of cases) {
      test(`the same seed and rows give the same adapter, ${name}`, async (t) => {
        const opening = optionsOf();
        await assertSame(t, await trained('embedded', opening, name), await trained('trainer', opening, name));
      });
    }

    test('either goes on from the other: from a parent, and from a snapshot', async (t) => {
      const { adapter: parent } = await trained('embedded', { ...options, seed: 8 }, 'parent');
      const child = { ...options, parent };
      const whole = await trained('embedded', child, 'child');
      await assertSame(t, whole, await trained('trainer', child, 'child'));
      for (const [first, second] of [
        ['embedded', 'trainer'],
        ['trainer', 'embedded'],
        ['trainer', 'trainer'],
      ] as const) {
        const snapshot = path.join(folder, `snapshot ${first} ${second}`);
        const begun = await openOn[first](child);
        const losses = await steps(begun, 0, 4);
        await begun.snapshot(snapshot);
        await begun.close();
        const session = await openOn[second]({ resume: snapshot });
        losses.push(...(await steps(session, 4, 10)));
        const { loss, tokens } = await session.evaluate(rows);
        const adapter = await session.save(path.join(folder, `resumed ${first} ${second}`));
        await session.close();
        await assertSame(t, whole, { losses: [...losses, loss], tokens, adapter });
      }
    });
  });
}

interface Trained {
  readonly losses: readonly number[];
  readonly tokens: number;
  readonly adapter: AdapterReference;
}

/** Rows that begin alike, with weights, soft targets and weights of targets. */
async function rowsOf(engine: Engine): Promise<readonly TrainingExample[]> {
  const rows: TrainingExample[] = [];
  for (const [index, [question, answer]] of facts.entries()) {
    const system = { role: 'system' as const, content: 'You answer questions about Varn, a town on the coast.' };
    const prompt = { messages: [system, { role: 'user' as const, content: question }] };
    const sequence = await engine.encode(prompt, answer);
    const targets = sequence.tokens.length - sequence.targetStart;
    const [score] = await engine.score({ sequences: [sequence], adapter: null, topK: 8 });
    rows.push({
      sequence,
      weight: 1 + index / 2,
      ...(index === 1 ? { softTargets: score?.topK ?? [] } : {}),
      ...(index === 2 ? { targetWeights: Array.from({ length: targets }, (_, target) => (target < 3 ? 2 : 1)) } : {}),
    });
  }
  return rows;
}
