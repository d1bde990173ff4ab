import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { jobList, type ErrorEnvelope, type JobList, type Receipt } from '@engraft/contract';
import fc from 'fast-check';
import { sql } from 'kysely';
import {
  buildTestApp,
  call,
  createTestKey,
  createTestProject,
  type TestApp,
  type TestKey,
} from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';

const inference = { subject_id: 'subject', messages: [{ role: 'user', content: 'question' }] };

describe('GET /v1/jobs', () => {
  let database: TestDatabase;
  let service: TestApp;
  let key: TestKey;
  let admitted = 0;
  before(async () => {
    database = await openTestDatabase();
    service = buildTestApp(database.db);
  });
  after(async () => {
    await service.app.close();
    await database.close();
  });
  beforeEach(async () => {
    key = await createTestKey(database.db, await createTestProject(database.db));
  });

  async function admit(tenant?: string): Promise<string> {
    admitted += 1;
    const headers = { 'idempotency-key': `listed-job-${admitted}`, 'x-service-tenant': tenant };
    const response = await call(service.app, 'POST', '/v1/inferences', { key, body: inference, headers });
    return response.json<Receipt>().id;
  }

  async function admitMany(count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let index = 0; index < count; index += 1) ids.push(await admit());
    return ids;
  }

  const get = (query = '', tenant?: string, by = key) =>
    call(service.app, 'GET', `/v1/jobs${query}`, { key: by, headers: { 'x-service-tenant': tenant } });

  async function list(query = '', tenant?: string): Promise<JobList> {
    const response = await get(query, tenant);
    assert.equal(response.statusCode, 200, response.body);
    return jobList.strict().parse(response.json());
  }

  const idsOf = ({ data }: JobList) => data.map(({ id }) => id);
  const afterCursor = (cursor: string | null) =>
    `&cursor=${encodeURIComponent(cursor ?? assert.fail('the last page'))}`;

  const pageAfter = (cursor: string | null, limit: number): Promise<JobList> =>
    list(`?limit=${limit}${cursor === null ? '' : afterCursor(cursor)}`);

  test('"Job list item (only these fields): `id`, `kind`, `status`, `phase`, `adapter_version`, `created_at`."', async () => {
    const id = await admit();
    const { data, next_cursor } = await list();
    assert.equal(next_cursor, null);
    assert.deepEqual(data, [
      {
        id,
        kind: 'inference',
        status: 'queued',
        phase: 'queued',
        adapter_version: 'base',
        created_at: data[0]!.created_at,
      },
    ]);
    assert.match(data[0]!.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  test('"newest first; continue until `next_cursor` is null"', async () => {
    const ids = (await admitMany(5)).reverse();
    const first = await list('?limit=2');
    const second = await list(`?limit=2${afterCursor(first.next_cursor)}`);
    const third = await list(`?limit=2${afterCursor(second.next_cursor)}`);
    assert.deepEqual([first, second, third].map(idsOf), [ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
    assert.equal(third.next_cursor, null);
    assert.equal((await list('?limit=5')).next_cursor, null);
    assert.deepEqual(await list(`?limit=2${afterCursor(first.next_cursor)}`), second, 'a cursor can be used again');
  });

  test('"newest first": by `created_at` too, however long an admission takes', async () => {
    const gate = new EventEmitter();
    const countTokens = async (): Promise<number> => {
      gate.emit('reached');
      await once(gate, 'opened');
      return 5;
    };
    const slow = buildTestApp(database.db, { countTokens });
    const headers = { 'idempotency-key': 'slow-admission' };
    const reached = once(gate, 'reached');
    const admitting = call(slow.app, 'POST', '/v1/inferences', {
      key,
      body: { ...inference, subject_id: 'slow' },
      headers,
    });
    await reached;
    await delay(5);
    const quick = await admit();
    gate.emit('opened');
    const { id } = (await admitting).json<Receipt>();
    await slow.app.close();
    const page = await list();
    assert.deepEqual(idsOf(page), [id, quick]);
    assert.ok(page.data[0]!.created_at >= page.data[1]!.created_at);
  });

  test('`limit`: "integer 1-100, default 50"', async () => {
    // Past the guard that each job has its reservation.
    await database.owner.transaction().execute(async (trx) => {
      await sql`set local session_replication_role = replica`.execute(trx);
      const id = await admit();
      const job = await trx.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
      const { project_id, subject_ref, subject_name, api_key_id, kind, adapter_version, pricing_version } = job;
      const copy = { project_id, subject_ref, subject_name, api_key_id, kind, adapter_version, pricing_version };
      const copies = Array.from({ length: 101 }, (_, index) => ({
        ...copy,
        id: `job_${String(index).padStart(24, '0')}`,
        reserved_microusd: 0,
        request: '{}',
      }));
      await trx.insertInto('jobs').values(copies).execute();
    });
    assert.equal((await list()).data.length, 50);
    assert.equal((await list('?limit=1')).data.length, 1);
    assert.equal((await list('?limit=100')).data.length, 100);
    for (const limit of ['0', '101', '-1', '1.5', 'all', '', '%2050', '1e1', '9999']) {
      const response = await get(`?limit=${limit}`);
      assert.deepEqual([response.statusCode, response.json<ErrorEnvelope>().error.param], [422, 'limit'], limit);
    }
  });

  test('"Query parameters that an endpoint does not define are refused with 422 rather than ignored; so is an invalid cursor."', async () => {
    const refused = async (query: string, tenant?: string) => {
      const response = await get(query, tenant);
      assert.equal(response.statusCode, 422, query);
      return response.json<ErrorEnvelope>().error.param;
    };
    for (const name of ['status', 'kind', 'Limit', '__proto__', 'cursor%5B%5D']) {
      assert.equal(await refused(`?${name}=1`), decodeURIComponent(name));
    }
    assert.equal(await refused('?limit=1&limit=2'), 'limit');
    const id = await admit();
    await admit();
    const { next_cursor } = await list('?limit=1');
    assert.ok(next_cursor !== null);
    const foreign = createTestKey(database.db, await createTestProject(database.db));
    for (const cursor of ['', 'x', id, `${next_cursor}x`, next_cursor.toUpperCase(), '%00', '1']) {
      assert.equal(await refused(`?cursor=${cursor}`), 'cursor');
    }
    assert.equal(await refused(`?cursor=${next_cursor}`, 'another-tenant'), 'cursor');
    assert.equal((await get(`?cursor=${next_cursor}`, undefined, await foreign)).statusCode, 422);
  });

  test('"Requires `read`", and shows the jobs of the selected tenant only', async () => {
    const [own, theirs] = [await admit(), await admit('a')];
    assert.deepEqual(idsOf(await list()), [own]);
    assert.deepEqual(idsOf(await list('', 'a')), [theirs]);
    const submitter = await createTestKey(database.db, key.project_id, { scopes: ['inference', 'internalize'] });
    assert.equal((await get('', undefined, submitter)).statusCode, 403);
    const restricted = await createTestKey(database.db, key.project_id, { scopes: ['read'], tenant_id: 'a' });
    assert.deepEqual(idsOf((await get('', undefined, restricted)).json<JobList>()), [theirs]);
    assert.equal((await get('', 'b', restricted)).statusCode, 422);
  });

  test('"neither skips nor repeats while jobs are being added", by several at once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 6 }),
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 6 }),
        async (beforePaging, limit, addedBetween) => {
          key = await createTestKey(database.db, await createTestProject(database.db));
          const known = (await admitMany(beforePaging)).reverse();
          const seen: string[] = [];
          let cursor: string | null = null;
          for (let pageNumber = 0; ; pageNumber += 1) {
            const additions = Array.from({ length: addedBetween[pageNumber] ?? 0 }, () => admit());
            const [page]: [JobList, ...string[]] = await Promise.all([pageAfter(cursor, limit), ...additions]);
            seen.push(...idsOf(page));
            cursor = page.next_cursor;
            if (cursor === null) break;
          }
          assert.equal(new Set(seen).size, seen.length, 'none twice');
          // Jobs that were added meanwhile may be on the first page; every job known before is there, in order.
          assert.deepEqual(
            seen.filter((id) => known.includes(id)),
            known,
          );
          assert.deepEqual(seen.slice(-known.length || Infinity), known);
        },
      ),
      { numRuns: 15 },
    );
  });
});

describe('GET /v1/models', () => {
  test('"Response `{ data: [model catalogue entry] }`; one entry with the one supported model", for "any valid key, no scope"', async () => {
    const database = await openTestDatabase();
    const { app } = buildTestApp(database.db, { model_id: 'my-model', execution: 'off' });
    const key = await createTestKey(database.db, await createTestProject(database.db, 0), {
      scopes: ['adapters'],
      tenant_id: 'a',
    });
    const response = await call(app, 'GET', '/v1/models', { key });
    assert.equal(response.statusCode, 200);
    assert.deepEqual(response.json(), {
      data: [
        {
          id: 'my-model',
          pricing: {
            version: '2026-11-01',
            input_usd_per_million_tokens: 12,
            output_usd_per_million_tokens: 30,
            cached_input_usd_per_million_tokens: 2.5,
            training_usd_per_million_tokens: 36,
            storage_usd_per_gb_month: 0.3,
            internalization_fee_usd: 0,
          },
        },
      ],
    });
    assert.equal((await call(app, 'GET', '/v1/models')).statusCode, 401);
    assert.equal((await call(app, 'GET', '/v1/models?page=2', { key })).statusCode, 422);
    await app.close();
    await database.close();
  });
});
