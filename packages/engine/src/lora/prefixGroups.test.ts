import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { tinyConfig } from '../testing/fixtures.js';
import type { TrainingExample } from '../types.js';
import { sum } from '../support/numbers.js';
import { groupTokens, groupByPrefix, type PrefixGroup } from './prefixGroups.js';

const config = { ...tinyConfig, contextLength: 512 };
const ample = { maxTokens: 512, maxTargets: 512 };

function exampleOf(tokens: readonly number[], targetStart: number): TrainingExample {
  return { sequence: { tokens, targetStart }, weight: 1 };
}

function run(from: number, length: number): number[] {
  return Array.from({ length }, (_, index) => from + index);
}

function tokensOfMembers(groups: readonly PrefixGroup[]): (readonly number[])[] {
  return groups.flatMap(({ members }) => members.map(({ sequence }) => sequence.tokens));
}

void test('what several examples begin with is counted once', () => {
  const passage = run(1, 40);
  const questions = [run(100, 5), run(200, 6), run(300, 7)];
  const examples = questions.map((question) => exampleOf([...passage, ...question], 43));
  const other = exampleOf(run(400, 20), 4);
  const groups = groupByPrefix([examples[0]!, other, examples[1]!, examples[2]!], config, ample);
  assert.deepEqual(
    groups.map(({ shared, members }) => [shared, members.length]),
    [
      [40, 3],
      [0, 1],
    ],
  );
  assert.equal(groupTokens(groups[0]!), 40 + 5 + 6 + 7);
});

void test('of a beginning that all share and longer ones that some share, the one that saves more is taken', () => {
  const system = run(1, 10);
  const passages = [run(100, 50), run(200, 50)];
  const examples = passages.flatMap((passage) =>
    [0, 1].map((question) => exampleOf([...system, ...passage, ...run(300 + 10 * question, 5)], 62)),
  );
  assert.deepEqual(
    groupByPrefix(examples, config, ample).map(({ shared }) => shared),
    [60, 60],
  );
  const short = passages.map((_, index) => exampleOf([...system, ...run(500 + 10 * index, 4)], 12));
  assert.deepEqual(
    groupByPrefix(short, config, ample).map(({ shared }) => shared),
    [10],
  );
});

void test('the token that predicts the first target is never shared, also of equal examples', () => {
  const example = exampleOf(run(1, 30), 20);
  const [group, ...others] = groupByPrefix([example, example, example], config, ample);
  assert.deepEqual(others, []);
  assert.deepEqual([group?.shared, group?.members.length], [19, 3]);
});

const tokens = fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 2, maxLength: 60 });
const examples = fc.array(
  fc.tuple(tokens, fc.double({ min: 0, max: 1, noNaN: true })).map(([ids, share]) => {
    return exampleOf(ids, 1 + Math.floor(share * (ids.length - 2)));
  }),
  { minLength: 1, maxLength: 20 },
);

void test('every example is in one group, whose members begin alike, within the limits', () => {
  const limits = { maxTokens: 90, maxTargets: 60 };
  fc.assert(
    fc.property(examples, (batch) => {
      const groups = groupByPrefix(batch, config, limits);
      assert.deepEqual(
        tokensOfMembers(groups).map(String).sort(),
        batch.map(({ sequence }) => String(sequence.tokens)).sort(),
      );
      for (const group of groups) {
        const { shared, members } = group;
        const [first] = members;
        assert.ok(first !== undefined);
        if (members.length === 1) assert.equal(shared, 0);
        else {
          assert.ok(groupTokens(group) <= limits.maxTokens);
          const targets = sum(members.map(({ sequence }) => sequence.tokens.length - sequence.targetStart));
          assert.ok(targets <= limits.maxTargets);
        }
        for (const { sequence } of members) {
          assert.ok(shared < sequence.targetStart);
          assert.deepEqual(sequence.tokens.slice(0, shared), first.sequence.tokens.slice(0, shared));
        }
      }
    }),
  );
});
