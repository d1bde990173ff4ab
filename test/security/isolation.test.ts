import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import type { LightMyRequestResponse } from 'fastify';
import {
  buildTestApp,
  call,
  createTestKey,
  createTestProject,
  type TestApp,
  type TestKey,
} from '@engraft/service/testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '@engraft/service/testing/testDatabase.js';
import { createTestVersion } from '@engraft/service/testing/testVersion.js';

/** A key, and the tenant that it selects: its own, or one that it asks for. */
interface Caller {
  readonly key: TestKey;
  readonly tenant: string | null;
  /** Whether it may only act for that tenant. */
  readonly restricted: boolean;
}

/** What one caller has. */
interface Holding {
  readonly owner: Caller;
  readonly job_id: string;
  readonly version_id: string;
}

/** Everybody has a subject of this name: only project and tenant tell the subjects apart. */
const subject_id = 'subject-of-everybody';

let database: TestDatabase;
let service: TestApp;
const holdings: Holding[] = [];
before(async () => {
  database = await openTestDatabase({ maxConnections: 8, durable: false });
  service = buildTestApp(database.db);
  // The names of tenants are the same in every project.
  for (const project of [await createTestProject(database.db), await createTestProject(database.db)]) {
    const open = await createTestKey(database.db, project);
    for (const tenant of [null, 'a', 'b']) {
      const own = tenant === null ? open : await createTestKey(database.db, project, { tenant_id: tenant });
      const owner = { key: own, tenant, restricted: tenant !== null };
      const version = await createTestVersion(database.db, own, { tenant_id: tenant, subject_id });
      const asked = await ask(owner, { idempotency_key: 'the-same-key' });
      assert.equal(asked.statusCode, 202);
      const { id: job_id } = asked.json<{ id: string }>();
      const owners = tenant === null ? [owner] : [owner, { ...owner, key: open, restricted: false }];
      holdings.push(...owners.map((each) => ({ owner: each, job_id, version_id: version.id })));
    }
  }
});
after(async () => {
  await service.app.close();
  await database.close();
});

function headersOf({ tenant, restricted }: Caller): Record<string, string> {
  return tenant === null || restricted ? {} : { 'x-service-tenant': tenant };
}

function ask(caller: Caller, { idempotency_key = '', adapter_version = 'base' }): Promise<LightMyRequestResponse> {
  const headers = { ...headersOf(caller), 'idempotency-key': idempotency_key };
  const body = { subject_id, adapter_version, messages: [{ role: 'user', content: 'Who?' }] };
  return call(service.app, 'POST', '/v1/inferences', { key: caller.key, headers, body });
}

/** All that an answer shows but what is new in each: its request id, its time, and what is left of the rate. */
function shown(response: LightMyRequestResponse): unknown {
  const isNew = (name: string) => name === 'x-request-id' || name === 'date' || name.startsWith('x-ratelimit-');
  const others = Object.entries(response.headers).filter(([name]) => !isNew(name));
  const body = response.body.replaceAll(/req_[\w-]+/g, 'req');
  return { status: response.statusCode, headers: others, body };
}

const isSameScope = (a: Caller, b: Caller) => a.key.project_id === b.key.project_id && a.tenant === b.tenant;

const absent = fc.stringMatching(/^[a-zA-Z0-9]{24}$/);

test("what is another project's or tenant's answers exactly like what is not there, whoever asks for whatever", async () => {
  let asked = 0;
  const index = fc.nat(holdings.length - 1);
  await fc.assert(
    fc.asyncProperty(index, index, absent, async (from, of, nothing) => {
      const [caller, target] = [holdings[from]?.owner, holdings[of]];
      assert.ok(caller !== undefined && target !== undefined);
      const headers = headersOf(caller);
      const readJob = (id: string) => call(service.app, 'GET', `/v1/jobs/${id}`, { key: caller.key, headers });
      const pin = (adapter_version: string) => {
        asked += 1;
        return ask(caller, { idempotency_key: `isolation-${asked}`, adapter_version });
      };
      const activate = (version_id: string) => {
        const body = { version_id, expected_version_id: 'never-active' };
        return call(service.app, 'POST', '/v1/adapters/activate', { key: caller.key, headers, body });
      };
      if (isSameScope(caller, target.owner)) {
        assert.equal((await readJob(target.job_id)).statusCode, 200);
        assert.equal((await pin(target.version_id)).statusCode, 202);
        assert.equal((await activate(target.version_id)).statusCode, 409);
      } else {
        const pairs = [
          [await readJob(target.job_id), await readJob(`job_${nothing}`)],
          [await pin(target.version_id), await pin(`ver_${nothing}`)],
          [await activate(target.version_id), await activate(`ver_${nothing}`)],
        ] as const;
        for (const [theirs, none] of pairs) {
          assert.equal(theirs.statusCode, 404);
          assert.deepEqual(shown(theirs), shown(none));
        }
      }
    }),
    { numRuns: 60 },
  );
});

test('lists and metrics show nothing of others, and an idempotency key of theirs is free', async () => {
  for (const { owner } of holdings) {
    const headers = headersOf(owner);
    const seen = await Promise.all(
      ['/v1/jobs?limit=100', '/v1/subjects'].map((url) => call(service.app, 'GET', url, { key: owner.key, headers })),
    );
    const metrics = await call(service.app, 'GET', '/metrics');
    for (const { owner: other, job_id, version_id } of holdings) {
      const mine = isSameScope(owner, other);
      assert.equal(seen[0]?.body.includes(job_id), mine);
      assert.equal(seen[1]?.body.includes(version_id), mine);
      for (const name of [job_id, version_id, other.key.id, other.key.project_id, subject_id]) {
        assert.equal(metrics.body.includes(name), false);
      }
    }
  }
  // Each of the six namespaces admitted a job of its own under one key.
  assert.equal(new Set(holdings.map(({ job_id }) => job_id)).size, 6);
});
