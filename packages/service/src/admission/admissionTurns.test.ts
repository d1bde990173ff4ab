import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as soon } from 'node:timers/promises';
import fc from 'fast-check';
import { AdmissionTurns } from './admissionTurns.js';

interface Begun {
  readonly projectId: string;
  end: (fails: boolean) => void;
}

const projects = ['one', 'another'] as const;

test('two admissions of a project are made at once, the others in the order in which they came', async () => {
  const asking = fc.array(fc.constantFrom(...projects), { maxLength: 12 });
  const ending = fc.array(fc.record({ place: fc.nat(), fails: fc.boolean() }), { maxLength: 12 });
  await fc.assert(fc.asyncProperty(asking, ending, checkTurns), { numRuns: 50 });
});

async function checkTurns(asked: readonly string[], ending: readonly { place: number; fails: boolean }[]) {
  const turns = new AdmissionTurns();
  const open: Begun[] = [];
  const begun: number[] = [];
  const outcomes = asked.map((projectId, name) =>
    turns.take(projectId, () => {
      begun.push(name);
      return new Promise<number>((resolve, reject) => {
        open.push({ projectId, end: (fails) => (fails ? reject(new Error(String(name))) : resolve(name)) });
      });
    }),
  );
  const settled = Promise.allSettled(outcomes);
  const namesOf = (projectId: string) => asked.flatMap((each, name) => (each === projectId ? [name] : []));
  const begunOf = (projectId: string) => begun.filter((name) => asked[name] === projectId);
  const rest = asked.map(() => ({ place: 0, fails: false }));
  for (const { place, fails } of [...ending, ...rest]) {
    await soon();
    for (const projectId of projects) {
      const atOnce = open.filter((each) => each.projectId === projectId).length;
      const waiting = namesOf(projectId).length - begunOf(projectId).length;
      assert.ok(atOnce === 2 || (atOnce < 2 && waiting === 0), `${atOnce} at once, ${waiting} wait`);
    }
    open.splice(place % Math.max(1, open.length), 1)[0]?.end(fails);
  }
  await settled;
  for (const projectId of projects) assert.deepEqual(begunOf(projectId), namesOf(projectId));
}

test('an admission that fails gives its turn to the next one, and its error to its caller', async () => {
  const turns = new AdmissionTurns();
  const fail = () => turns.take('one', () => Promise.reject(new Error('the database is away')));
  const outcomes = await Promise.allSettled([fail(), fail(), fail(), turns.take('one', () => Promise.resolve('done'))]);
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : String(outcome.reason))),
    [...Array.from({ length: 3 }, () => 'Error: the database is away'), 'done'],
  );
});
