import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { revokeKey } from '../keys/revokeKey.js';
import { readBalance } from '../ledger/accounts.js';
import { createTestVersion } from '../testing/testVersion.js';
import {
  database,
  question,
  questionMicrousd,
  passage,
  operation,
  newKey,
  admit,
  admitted,
  assertRefused,
  readRow,
  open,
  close,
} from '../testing/admissionTest.js';

before(open);
after(close);

describe('an admitted operation', () => {
  test('is a queued job with its reservation, price card and normalised request', async () => {
    const key = await newKey();
    const job = await readRow(await admitted(operation(key, { tenant_id: 'tenant' })));
    assert.equal(job.status, 'queued');
    assert.equal(job.tenant_id, 'tenant');
    assert.equal(job.subject_name, 'subject');
    assert.equal(job.adapter_version, 'base');
    assert.equal(job.pricing_version, '2026-11-01');
    assert.equal(job.reserved_microusd, questionMicrousd);
    assert.deepEqual(job.request, question);
    const balance = await readBalance(database.db, key.project_id);
    assert.equal(balance.reserved_microusd, questionMicrousd);
  });

  test('"Admission reserves `max_cost_microusd`, captures the subject\'s active version as parent (or `base`)"', async () => {
    const key = await newKey();
    const first = await readRow(await admitted(operation(key, { request: passage })));
    assert.equal(first.adapter_version, 'base');
    assert.equal(first.reserved_microusd, 1_000_000);
    const version = await createTestVersion(database.db, key);
    const second = await readRow(await admitted(operation(key, { request: passage })));
    assert.equal(second.adapter_version, version.id);
  });

  test('"Revoking a key blocks later authenticated requests", also one whose body was still on its way', async () => {
    const key = await newKey();
    const asked = operation(key, { request: passage });
    await admitted(asked);
    await revokeKey(database.db, key.id);
    for (const late of [asked, operation(key)]) await assertRefused('unauthorized', late);
  });

  test('without a subject runs on base, and "no subject is created"', async () => {
    const key = await newKey();
    const job = await readRow(await admitted(operation(key, { subject_id: null })));
    assert.equal(job.subject_ref, null);
    assert.equal(job.subject_name, 'default');
    assert.equal(job.adapter_version, 'base');
    const subjects = await database.db
      .selectFrom('subjects')
      .where('project_id', '=', key.project_id)
      .selectAll()
      .execute();
    assert.deepEqual(subjects, []);
  });

  test('creates its subject once, whoever comes first', async () => {
    const key = await newKey();
    const jobs = await Promise.all(Array.from({ length: 8 }, () => admitted(operation(key, { subject_id: 'new' }))));
    const rows = await Promise.all(jobs.map(readRow));
    assert.equal(new Set(rows.map((row) => row.subject_ref)).size, 1);
  });

  test('keeps what it says, whatever characters it holds', async () => {
    const request = { ...passage, content: `\u0000 \ud800 \udfff ${'😀'.repeat(20)} ' \\ "` };
    const job = await readRow(await admitted(operation(await newKey(), { request })));
    assert.deepEqual(job.request, request);
  });
});

describe('a refused operation', () => {
  test('leaves no trace: no job, no subject, no money held, and its key stays free', async () => {
    const key = await newKey(questionMicrousd - 1);
    const asked = operation(key);
    await assertRefused('insufficient_credits', asked);
    for (const table of ['jobs', 'subjects', 'idempotency_keys'] as const) {
      const rows = await database.db.selectFrom(table).selectAll().where('project_id', '=', key.project_id).execute();
      assert.deepEqual(rows, []);
    }
    assert.equal((await readBalance(database.db, key.project_id)).reserved_microusd, 0);
    const { kind } = await admit({ ...asked, request: { ...question, max_output_tokens: 1 } });
    assert.equal(kind, 'admitted');
  });
});

describe('"Order of checks on a model write"', () => {
  test('"idempotent replay → execution switched off → version resolution → context ceiling → money"', async () => {
    const key = await newKey(1);
    const long = { ...question, messages: [{ role: 'user' as const, content: 'x'.repeat(2_000) }] };
    const everythingWrong = operation(key, { adapter_version: 'ver_unknown', request: long });
    await assertRefused('execution_unavailable', everythingWrong, { execution: 'off' });
    await assertRefused('not_configured', everythingWrong, { execution: 'not_configured' });
    await assertRefused('not_found', everythingWrong);
    await assertRefused('context_length_exceeded', { ...everythingWrong, adapter_version: undefined });
    await assertRefused('insufficient_credits', { ...everythingWrong, adapter_version: undefined, request: question });
  });

  test('no transaction waits for the tokens of a prompt to be counted, whatever comes of it', async () => {
    const key = await newKey();
    const open = async (): Promise<number> => {
      const { rows } = await sql<{ open: number }>`select count(*)::int as open from pg_stat_activity
        where datname = current_database() and backend_type = 'client backend' and xact_start is not null
          and pid <> pg_backend_pid()`.execute(database.owner);
      return rows[0]?.open ?? 0;
    };
    const seen: number[] = [];
    const countTokens = async (): Promise<number> => {
      seen.push(await open());
      return 10;
    };
    assert.equal((await admit(operation(key), { countTokens })).kind, 'admitted');
    assert.deepEqual(seen, [0]);
    const unable = (): Promise<number> => Promise.reject(new Error('it cannot be counted'));
    await assertRefused('not_found', operation(key, { adapter_version: 'ver_unknown' }), { countTokens: unable });
    await assert.rejects(admit(operation(key), { countTokens: unable }), /it cannot be counted/);
  });

  test('a used key with other input is a conflict before anything else', async () => {
    const key = await newKey();
    const asked = operation(key);
    await admitted(asked);
    await assertRefused('idempotency_conflict', { ...asked, adapter_version: 'ver_unknown' }, { execution: 'off' });
  });
});
