import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Session } from './session.js';
import { Scorer } from '../scoring/scorer.js';
import { SharedWeights } from '../model/sharedWeights.js';
import { randomWeights, tinyConfig, readerOf } from '../testing/fixtures.js';
import { SessionCache } from './sessionCache.js';

test('simultaneous first calls make one session, which closing frees', async (t) => {
  const made: Promise<Session>[] = [];
  const create = Session.create.bind(Session);
  t.mock.method(Session, 'create', (...args: Parameters<typeof create>) => {
    const session = create(...args);
    made.push(session);
    return session;
  });
  const scorer = new Scorer({
    config: tinyConfig,
    weights: await SharedWeights.open(tinyConfig, readerOf(randomWeights(tinyConfig, 1))),
    threads: 1,
  });
  const sequences = [{ tokens: [1, 2, 3], targetStart: 1 }];
  const [first, second] = await Promise.all([scorer.score(sequences, null, 1), scorer.score(sequences, null, 1)]);
  assert.deepEqual(first, second);
  assert.equal(made.length, 1);
  const session = await made[0]!;
  const release = t.mock.method(session, 'release');
  await scorer.close();
  assert.equal(release.mock.callCount(), 1);
});

test('sessions of scoring go when its weights are forgotten, and are made again with them', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const release = t.mock.method(Session.prototype, 'release').mock;
  const weights = await SharedWeights.open(tinyConfig, readerOf(randomWeights(tinyConfig, 1)), { idleMs: 1000 });
  const scorer = new Scorer({ config: tinyConfig, weights, threads: 1 });
  const sequences = [{ tokens: [1, 2, 3], targetStart: 1 }];
  const first = await scorer.score(sequences, null, 1);
  t.mock.timers.tick(999);
  await setImmediate();
  assert.equal(release.callCount(), 0);
  t.mock.timers.tick(1);
  await setImmediate();
  assert.equal(release.callCount(), 1);
  assert.deepEqual(await scorer.score(sequences, null, 1), first);
  await scorer.close();
  assert.equal(release.callCount(), 2);
});

test('a session that could not be made is made when it is asked for again', async () => {
  const sessions = new SessionCache<string>();
  const attempts: string[] = [];
  const fail = (): Promise<Session> => {
    attempts.push('made');
    return Promise.reject(new Error('no memory'));
  };
  for (let attempt = 0; attempt < 2; attempt += 1) await assert.rejects(sessions.get('a', fail), /no memory/);
  assert.equal(attempts.length, 2);
  await sessions.close();
});
