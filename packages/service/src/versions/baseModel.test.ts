import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { subjectList, type Receipt } from '@engraft/contract';
import { sql } from 'kysely';
import { readBalance } from '../ledger/accounts.js';
import { verifyLedger } from '../ledger/verifyLedger.js';
import { renewHosting } from '../retention/renewHosting.js';
import {
  buildTestApp,
  call,
  createTestKey,
  createTestProject,
  type TestApp,
  type TestKey,
} from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { createTestVersion, expireTestVersion, type TestVersion } from '../testing/testVersion.js';
import { countVersionsByModel, recordBaseModel } from './baseModel.js';

const [firstModel, secondModel] = ['a', 'b'].map((digit) => `sha256:${digit.repeat(64)}`) as [string, string];

describe('a version of another base model', () => {
  let database: TestDatabase;
  let service: TestApp;
  let key: TestKey;
  let calls = 0;
  before(async () => {
    database = await openTestDatabase();
    service = buildTestApp(database.db);
  });
  after(async () => {
    assert.deepEqual((await verifyLedger(database.db)).differences, []);
    await service.app.close();
    await database.close();
  });
  beforeEach(async () => {
    key = await createTestKey(database.db, await createTestProject(database.db));
    await recordBaseModel(database.db, firstModel);
  });

  const learned = (options: { activate?: boolean; subject_id?: string } = {}): Promise<TestVersion> =>
    createTestVersion(database.db, key, { base_model_hash: firstModel, ...options });

  function post(url: string, body: unknown) {
    calls += 1;
    return call(service.app, 'POST', url, { key, body, headers: { 'idempotency-key': `base-model-${calls}` } });
  }
  const ask = (body: object = {}) =>
    post('/v1/inferences', { subject_id: 'subject', messages: [{ role: 'user', content: 'question' }], ...body });
  const activate = ({ id }: TestVersion, expectedVersionId: string | null) =>
    call(service.app, 'POST', '/v1/adapters/activate', {
      key,
      body: { version_id: id, expected_version_id: expectedVersionId },
    });

  async function outcome(answer: ReturnType<typeof call>): Promise<(number | string | boolean)[]> {
    const { statusCode, ...response } = await answer;
    const { error } = JSON.parse(response.body) as { error?: { code: string; retryable: boolean } };
    return error === undefined ? [statusCode] : [statusCode, error.code, error.retryable];
  }
  const refused = [409, 'base_model_changed', false];

  test('409 `base_model_changed`: pinned, active or target version was trained on another base model', async () => {
    const active = await learned();
    const candidate = await learned({ activate: false });
    assert.deepEqual(await outcome(ask()), [202]);
    await recordBaseModel(database.db, secondModel);
    const conversation = { model: 'model-5.3', messages: [{ role: 'user', content: 'question' }] };
    for (const refusal of [
      ask(),
      ask({ adapter_version: candidate.id }),
      post('/v1/chat/completions', { ...conversation, subject_id: 'subject' }),
      activate(candidate, active.id),
      activate(active, active.id),
    ]) {
      assert.deepEqual(await outcome(refusal), refused);
    }
    // Only those that are asked for: base is whatever the service has.
    assert.deepEqual(await outcome(ask({ adapter_version: 'base' })), [202]);
    assert.deepEqual(await outcome(ask({ subject_id: 'new' })), [202]);
    await recordBaseModel(database.db, firstModel);
    assert.deepEqual(await outcome(ask({ adapter_version: candidate.id })), [202]);
    assert.deepEqual(await outcome(activate(candidate, active.id)), [200]);
  });

  test('is found to be expired, or not the expected one, first', async () => {
    const active = await learned();
    const expired = await learned({ activate: false });
    await expireTestVersion(database.db, expired.id);
    await recordBaseModel(database.db, secondModel);
    assert.deepEqual(await outcome(ask({ adapter_version: expired.id })), [409, 'adapter_expired', false]);
    assert.deepEqual(await outcome(activate(expired, active.id)), [409, 'adapter_expired', false]);
    assert.deepEqual(await outcome(activate(active, null)), [409, 'activation_conflict', false]);
  });

  test('is replayed: "an identical replay succeeds" before anything that may have changed since', async () => {
    await learned();
    const headers = { 'idempotency-key': 'base-model-replayed' };
    const body = { subject_id: 'subject', messages: [{ role: 'user', content: 'question' }] };
    const send = () => call(service.app, 'POST', '/v1/inferences', { key, body, headers });
    const before = await send();
    await recordBaseModel(database.db, secondModel);
    const replay = await send();
    assert.deepEqual([before.statusCode, replay.statusCode], [202, 200]);
    assert.equal(replay.json<Receipt>().id, before.json<Receipt>().id);
  });

  test('is still a parent to learn on', async () => {
    const { id } = await learned();
    await recordBaseModel(database.db, secondModel);
    const passage = { subject_id: 'subject', content: 'x'.repeat(20), max_cost_microusd: 1_000_000 };
    const receipt = await post('/v1/internalizations', passage);
    assert.equal(receipt.statusCode, 202, receipt.body);
    const admitted = await database.db
      .selectFrom('jobs')
      .select('adapter_version')
      .where('id', '=', receipt.json<Receipt>().id)
      .executeTakeFirstOrThrow();
    assert.equal(admitted.adapter_version, id);
  });

  test('stays listed, and says so in `base_model_changed`', async () => {
    const changed = await learned();
    const unknown = await createTestVersion(database.db, key, { activate: false });
    const ofNow = await createTestVersion(database.db, key, { activate: false, base_model_hash: secondModel });
    await recordBaseModel(database.db, secondModel);
    const response = await call(service.app, 'GET', '/v1/subjects', { key });
    const [subject] = subjectList.parse(response.json()).data;
    assert.equal(subject?.active_version, changed.id);
    assert.deepEqual(
      subject.versions.map(({ id, base_model_changed }) => [id, base_model_changed]),
      [
        [ofNow.id, undefined],
        [unknown.id, undefined],
        [changed.id, true],
      ],
    );
  });

  test('is hosted without charge until its model is back', async () => {
    const { id } = await learned();
    const balance = async () => (await readBalance(database.db, key.project_id)).available_microusd;
    const renewed = async (): Promise<boolean> => {
      const due = {
        expires_at: sql<Date>`now() + interval '1 minute'`,
        created_at: sql<Date>`now() - interval '2 days'`,
      };
      await database.db.updateTable('versions').set(due).where('id', '=', id).execute();
      await renewHosting(database.db);
      const later = sql<boolean>`expires_at > now() + interval '23 hours'`.as('later');
      const row = database.db.selectFrom('versions').select(later).where('id', '=', id);
      return (await row.executeTakeFirstOrThrow()).later;
    };
    await recordBaseModel(database.db, secondModel);
    const before = await balance();
    assert.deepEqual([await renewed(), await balance()], [true, before]);
    await recordBaseModel(database.db, firstModel);
    assert.ok((await renewed()) && (await balance()) < before);
  });

  test('is counted while it is retained', async () => {
    const before = await countVersionsByModel(database.db, secondModel);
    await learned();
    await expireTestVersion(database.db, (await learned({ activate: false })).id);
    await createTestVersion(database.db, key, { activate: false, base_model_hash: secondModel });
    const { retained, of_another_model } = await countVersionsByModel(database.db, secondModel);
    assert.deepEqual([retained - before.retained, of_another_model - before.of_another_model], [2, 1]);
  });

  test('is told from none: recording a model says which one it replaces', async () => {
    assert.equal(await recordBaseModel(database.db, firstModel), null);
    assert.equal(await recordBaseModel(database.db, secondModel), firstModel);
    const both = [recordBaseModel(database.db, firstModel), recordBaseModel(database.db, firstModel)];
    assert.ok((await Promise.all(both)).includes(secondModel));
  });
});
