import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { readBalance } from '../ledger/accounts.js';
import { createTestKey } from '../testing/testApp.js';
import { createTestVersion, expireTestVersion } from '../testing/testVersion.js';
import {
  database,
  questionMicrousd,
  operation,
  newKey,
  admit,
  admitted,
  assertRefused,
  settle,
  question,
  passage,
  open,
  close,
} from '../testing/admissionTest.js';

before(open);
after(close);

describe('idempotency', () => {
  test('"Same key, same namespace and same normalized input: original job returned."', async () => {
    const key = await newKey();
    const asked = operation(key);
    const jobId = await admitted(asked);
    assert.deepEqual(await admit(asked), { kind: 'replayed', job_id: jobId, api_key_id: key.id });
  });

  test('"Same key with changed input … 409", and "one key on two endpoints is a conflict"', async () => {
    const asked = operation(await newKey());
    await admitted(asked);
    await assertRefused('idempotency_conflict', { ...asked, subject_id: 'another' });
    await assertRefused('idempotency_conflict', { ...asked, adapter_version: 'base' });
    await assertRefused('idempotency_conflict', { ...asked, request: { ...question, temperature: 1 } });
    await assertRefused('idempotency_conflict', { ...asked, endpoint: '/v1/chat/completions' });
  });

  test('neither a replay nor a conflict makes others wait while its tokens are counted', async () => {
    const asked = operation(await newKey());
    const counted: number[] = [];
    const countTokens = () => counted.push(1);
    const outcome = await admit(asked, { countTokens });
    assert.equal(outcome.kind, 'admitted');
    assert.equal(counted.length, 1);
    assert.equal((await admit(asked, { countTokens })).kind, 'replayed');
    await assertRefused('idempotency_conflict', { ...asked, subject_id: 'another' }, { countTokens });
    assert.equal(counted.length, 1);
  });

  test('"Scope: project plus tenant."', async () => {
    const [key, other] = [await newKey(), await newKey()];
    const asked = operation(key);
    const jobs = [
      await admitted(asked),
      await admitted({ ...asked, tenant_id: 'a' }),
      await admitted({ ...asked, tenant_id: 'b' }),
      await admitted({ ...asked, key: other }),
    ];
    assert.equal(new Set(jobs).size, 4);
  });

  test('another key of the project finds the same job', async () => {
    const key = await newKey();
    const asked = operation(key);
    const jobId = await admitted(asked);
    const colleague = await createTestKey(database.db, key.project_id);
    assert.deepEqual(await admit({ ...asked, key: colleague }), {
      kind: 'replayed',
      job_id: jobId,
      api_key_id: key.id,
    });
  });

  test('"an identical replay succeeds even when the balance is now empty, the version expired or execution is switched off"', async () => {
    const key = await newKey(2_000_000);
    const version = await createTestVersion(database.db, key);
    const asked = operation(key, { adapter_version: version.id });
    const jobId = await admitted(asked);
    const restMicrousd = (await readBalance(database.db, key.project_id)).available_microusd;
    await settle(
      key,
      await admitted(operation(key, { request: { ...passage, max_cost_microusd: restMicrousd } })),
      restMicrousd,
    );
    await expireTestVersion(database.db, version.id);
    const replay = await admit(asked, { execution: 'off', contextLength: 1 });
    assert.deepEqual(replay, { kind: 'replayed', job_id: jobId, api_key_id: key.id });
  });

  test('"Two simultaneous identical requests admit one job."', async () => {
    const asked = operation(await newKey());
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => admit(asked)));
    assert.equal(outcomes.filter(({ kind }) => kind === 'admitted').length, 1);
    assert.equal(outcomes.filter(({ kind }) => kind === 'replayed').length, 11);
    assert.equal(new Set(outcomes.map((outcome) => 'job_id' in outcome && outcome.job_id)).size, 1);
  });

  test('whatever simultaneous requests share a key: one job, and all others replay or conflict by their input', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(2), { minLength: 2, maxLength: 8 }), async (temperatures) => {
        const base = operation(await newKey());
        const outcomes = await Promise.all(
          temperatures.map((temperature) => admit({ ...base, request: { ...question, temperature } })),
        );
        const winner = outcomes.findIndex(({ kind }) => kind === 'admitted');
        for (const [index, outcome] of outcomes.entries()) {
          const same = temperatures[index] === temperatures[winner];
          const expected = index === winner ? 'admitted' : same ? 'replayed' : 'refused';
          assert.equal(outcome.kind, expected);
        }
        const jobs = await database.db
          .selectFrom('jobs')
          .select('id')
          .where('project_id', '=', base.key.project_id)
          .execute();
        assert.equal(jobs.length, 1);
      }),
      { numRuns: 15 },
    );
  });

  test('when the first of two simultaneous requests is refused, the second is judged for itself', async () => {
    const asked = operation(await newKey(questionMicrousd));
    const dear = { ...asked, request: { ...question, max_output_tokens: 101 } };
    const outcomes = await Promise.all([dear, asked, dear, asked].map((each) => admit(each)));
    assert.equal(outcomes.filter(({ kind }) => kind === 'admitted').length, 1);
    assert.equal(
      outcomes.filter((_, index) => index % 2 === 1).some(({ kind }) => kind === 'admitted'),
      true,
    );
  });
});
