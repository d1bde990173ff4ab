/** Trainings on a trainer that fails. It is a fault injector. */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ModelFront, type TrainingExample, type TrainingOptions } from '@engraft/engine';
import { openPeftTrainers, type PeftTrainers } from './index.js';
import { plainBytesOf, withMetadata } from './http/wire.js';
import { refuse, sessionOf, startFaultyTrainer, type FaultyTrainer } from './testing/faultyTrainer.js';

const modelDir = fileURLToPath(new URL('../../../models/base', import.meta.url));
const options: TrainingOptions = { parent: null, rank: 1, alpha: 2, seed: 3, clipNorm: 1 };
const rows: readonly TrainingExample[] = [{ sequence: { tokens: [5, 6, 7, 8], targetStart: 2 }, weight: 1 }];
const lost = { name: 'EngineError', code: 'process_lost' };

let model: string;
let folder: string;
let faulty: FaultyTrainer;
let trainers: PeftTrainers;

before(async () => {
  const front = await ModelFront.open(modelDir);
  model = (await front.describe()).contentHash;
  await front.close();
  folder = await mkdtemp(path.join(tmpdir(), 'engraft-trainers-'));
});
after(() => rm(folder, { recursive: true }));
beforeEach(async () => {
  faulty = await startFaultyTrainer(model);
  trainers = await openPeftTrainers({ modelDir, urls: [faulty.url] });
});
afterEach(async () => {
  await trainers.close();
  await faulty.stop();
});

test('a session begins with the matrices, the options and the checkpoint that they are for', async () => {
  const session = await trainers.openTraining({
    ...options,
    protectedDirections: [{ tokens: [1, 2], targetStart: 1 }],
  });
  const opening = faulty.requests.find(({ path: at }) => at === '/sessions');
  const { adapter_config: config, ...sent } = sessionOf(opening!) as Readonly<Record<string, unknown>>;
  assert.deepEqual(sent, {
    model,
    optimizer: { betas: [0.9, 0.999], weight_decay: 0, clip_norm: 1, steps: 0 },
    is_fresh: true,
    protected: [[1, 2]],
  });
  assert.ok(typeof config === 'object' && config !== null && 'r' in config && config.r === 1);
  assert.deepEqual(await session.step(rows, 1e-3), { loss: 1, tokens: 4, gradientNorm: 1 });
  assert.deepEqual(await session.evaluate(rows), { loss: 1, tokens: 4, gradientNorm: 0 });
  await session.close();
  assert.equal(faulty.session, null);
  await assert.rejects(session.step(rows, 1e-3), { code: 'invalid_request' });
});

test('what the caller gets wrong never travels', async () => {
  const session = await trainers.openTraining(options);
  const sent = faulty.requests.length;
  await assert.rejects(session.step([], 1e-3), { code: 'invalid_request' });
  await assert.rejects(session.step(rows, -1), { code: 'invalid_request' });
  await assert.rejects(session.step(rows, 1, { signal: AbortSignal.abort() }), { code: 'cancelled' });
  await assert.rejects(trainers.openTraining({ ...options, rank: 0 }), { code: 'invalid_request' });
  assert.equal(faulty.requests.length, sent);
  assert.equal((await session.step(rows, 1e-3)).loss, 1);
  await session.close();
});

test('a trainer that is busy or away makes a job wait', async () => {
  const waits = { code: 'not_running', message: /no trainer is free.*busy/ };
  const session = await trainers.openTraining(options);
  await assert.rejects(trainers.openTraining(options), waits);
  await session.close();
  faulty.session = 'f'.repeat(32);
  await assert.rejects(trainers.openTraining(options), waits);
  faulty.session = null;
  // It was free when it was asked, and somebody else came first.
  faulty.fault = (response, { path: at }) => at === '/sessions' && refuse(response, 409, 'busy');
  await assert.rejects(trainers.openTraining(options), { code: 'not_running' });
  await faulty.stop();
  await assert.rejects(trainers.openTraining(options), { code: 'not_running', message: /ECONNREFUSED/ });
});

test('another trainer is asked where the first cannot, and as many train at once as there are', async () => {
  const second = await startFaultyTrainer(model);
  const both = await openPeftTrainers({ modelDir, urls: [faulty.url, second.url] });
  const sessions = await Promise.all([both.openTraining(options), both.openTraining(options)]);
  assert.ok(faulty.session !== null && second.session !== null);
  await assert.rejects(both.openTraining(options), { code: 'not_running' });
  await sessions[0].close();
  await (await both.openTraining(options)).close();
  await both.close();
  assert.deepEqual([faulty.session, second.session], [null, null]);
  await second.stop();
});

test('another trainer is asked where the first fails, and a job waits where all do', async () => {
  const second = await startFaultyTrainer(model);
  const both = await openPeftTrainers({ modelDir, urls: [faulty.url, second.url] });
  const fails: FaultyTrainer['fault'] = (response, { path: at }) =>
    at === '/sessions' && refuse(response, 500, 'internal');
  faulty.fault = fails;
  const session = await both.openTraining(options);
  assert.ok(second.session !== null);
  await session.close();
  second.fault = fails;
  await assert.rejects(both.openTraining(options), { code: 'not_running' });
  // One that dies of the opening is no trainer that is away: the claim counts.
  second.fault = (response, { path: at }) => at === '/sessions' && (response.destroy(), true);
  await assert.rejects(both.openTraining(options), lost);
  await both.close();
  await second.stop();
});

test('what is too large to begin with is not sent, and no job waits for it', async () => {
  const small = await startFaultyTrainer(model, { maxStateBytes: 1_000 });
  const trainersThere = await openPeftTrainers({ modelDir, urls: [small.url] });
  const refused = { code: 'memory_exceeded', message: /above the 1000 of --max-state-bytes/ };
  await assert.rejects(trainersThere.openTraining(options), refused);
  assert.ok(small.requests.every(({ path: at }) => at === '/'));
  await trainersThere.close();
  await small.stop();
});

const faults: readonly (readonly [string, FaultyTrainer['fault']])[] = [
  ['the connection breaks', (response) => (response.destroy(), true)],
  [
    'the answer is cut',
    (response) => (response.writeHead(200, { 'content-length': 99 }).write('{'), response.destroy(), true),
  ],
  ['the answer is no JSON', (response) => (response.end('<html>'), true)],
  ['the answer has no loss', (response) => (response.end('{"loss":"1","gradient_norm":1,"steps":1}'), true)],
  ['a step was left out', (response) => (response.end('{"loss":1,"gradient_norm":1,"steps":2}'), true)],
  ['the trainer fails', (response) => refuse(response, 500, 'internal')],
  ['the lease was lost', (response) => refuse(response, 404, 'session_lost')],
  ['a proxy stands between', (response) => (response.writeHead(502).end('bad gateway'), true)],
];
for (const [name, fault] of faults) {
  test(`a session is lost when ${name}, the trainer is told, and the next one opens`, async () => {
    const session = await trainers.openTraining(options);
    faulty.fault = (response, request) => request.path.endsWith('/step') && fault(response, request);
    await assert.rejects(session.step(rows, 1e-3), lost);
    await assert.rejects(session.evaluate(rows), lost);
    await assert.rejects(session.snapshot(path.join(folder, 'never')), lost);
    faulty.fault = () => false;
    await session.close();
    assert.equal(faulty.session, null);
    const next = await trainers.openTraining(options);
    await next.step(rows, 1e-3);
    await next.close();
  });
}

test('what a step cannot compute says so and leaves the session', async () => {
  const session = await trainers.openTraining(options);
  for (const [told, code] of [
    ['memory_exceeded', 'memory_exceeded'],
    ['not_finite', 'internal'],
  ] as const) {
    faulty.fault = (response, { path: at }) => at.endsWith('/step') && refuse(response, 500, told);
    await assert.rejects(session.step(rows, 1e-3), { code });
  }
  faulty.fault = () => false;
  await session.step(rows, 1e-3);
  await session.close();
});

test('wrong bytes are never written as an adapter', async () => {
  const target = path.join(folder, 'wrong');
  for (const bytes of [Buffer.alloc(0), Buffer.from('no safetensors at all'), Buffer.alloc(2 ** 22)]) {
    const session = await trainers.openTraining(options);
    faulty.fault = (response, { path: at }) => at.endsWith('/state') && (response.end(bytes), true);
    await assert.rejects(session.save(target), lost);
    await session.close();
    faulty.fault = () => false;
  }
  const opened = faulty.requests.find(({ path: p }) => p === '/sessions')!.body;
  // Without moments, this is no snapshot. With another count of steps, it is not of this training.
  for (const [what, steps] of [
    ['moments', '0'],
    ['state', '1'],
  ] as const) {
    const session = await trainers.openTraining(options);
    const given = withMetadata(opened, { steps });
    faulty.fault = (response, { path: at }) => at.endsWith(`/${what}`) && (response.end(given), true);
    await assert.rejects(what === 'state' ? session.save(target) : session.snapshot(target), lost);
    await session.close();
    faulty.fault = () => false;
  }
  assert.deepEqual(await readdir(folder), []);
});

test("the bound on what a trainer gives counts an adapter's matrices, and not the moments that a snapshot has", () => {
  const header = {
    lora: { dtype: 'F32', shape: [2], data_offsets: [0, 8] },
    'first_moment.lora': { dtype: 'F32', shape: [2], data_offsets: [8, 16] },
    'second_moment.lora': { dtype: 'F32', shape: [2], data_offsets: [16, 24] },
  };
  const text = Buffer.from(JSON.stringify(header));
  const prefix = Buffer.alloc(8);
  prefix.writeBigUInt64LE(BigInt(text.byteLength));
  assert.equal(plainBytesOf(Buffer.concat([prefix, text, Buffer.alloc(24)])), 8 + text.byteLength + 8);
});

test('a session that is not renewed in vain is lost, also in the middle of a call', async () => {
  const silent = await startFaultyTrainer(model, { leaseSeconds: 0.2 });
  const limits = { quickMs: 40, maxMissedRenewals: 2 };
  const short = await openPeftTrainers({ modelDir, urls: [silent.url], limits: { ...limits, quickMs: 1_000 } });
  const session = await short.openTraining(options);
  await sleep(300);
  assert.ok(silent.requests.some(({ path: at }) => at.endsWith('/renew')));
  await session.step(rows, 1e-3);
  silent.fault = (response, { path: at }) => {
    if (at.endsWith('/renew')) return refuse(response, 404, 'session_lost');
    // Never answered.
    return at.endsWith('/step');
  };
  await assert.rejects(session.step(rows, 1e-3), lost);
  await short.close();
  await silent.stop();
});

test('closing ends a call that is under way', async () => {
  const session = await trainers.openTraining(options);
  faulty.fault = (_, { path: at }) => at.endsWith('/step');
  const running = assert.rejects(session.step(rows, 1e-3), { code: 'cancelled' });
  await sleep(50);
  await session.close();
  await running;
});

test('a trainer that is something else, or has another model, ends the start', async () => {
  const another = await startFaultyTrainer('sha256:0');
  const open = openPeftTrainers({ modelDir, urls: [faulty.url, another.url] });
  await assert.rejects(open, { code: 'checkpoint_invalid', message: /has the checkpoint sha256:0/ });
  another.fault = (response) => (response.end('hello'), true);
  const odd = openPeftTrainers({ modelDir, urls: [another.url] });
  await assert.rejects(odd, { code: 'checkpoint_invalid', message: /is no trainer of this release/ });
  await another.stop();
  // One that is away may come.
  await (await openPeftTrainers({ modelDir, urls: [another.url] })).close();
});
