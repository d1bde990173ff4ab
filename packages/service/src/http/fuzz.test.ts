import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { errorTable, type ErrorEnvelope } from '@engraft/contract';
import fc from 'fast-check';
import {
  buildTestApp,
  call,
  createTestKey,
  createTestProject,
  type TestApp,
  type TestKey,
} from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';

let database: TestDatabase;
let service: TestApp;
let key: TestKey;
before(async () => {
  database = await openTestDatabase();
  service = buildTestApp(database.db);
  key = await createTestKey(database.db, await createTestProject(database.db, 10_000_000_000));
});
after(async () => {
  await service.app.close();
  await database.close();
});

const valid: Readonly<Record<string, unknown>> = {
  '/v1/inferences': {
    subject_id: 'subject',
    tenant_id: 'tenant',
    adapter_version: 'base',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'What is it?', name: 'ada' },
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: '1', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', content: 'this', tool_call_id: '1' },
    ],
    tools: [
      { type: 'function', function: { name: 'f', description: 'd', parameters: { type: 'object' }, strict: false } },
    ],
    tool_choice: { type: 'function', function: { name: 'f' } },
    parallel_tool_calls: false,
    response_format: { type: 'json_object' },
    max_output_tokens: 5,
    temperature: 0.5,
  },
  '/v1/internalizations': {
    subject_id: 'subject',
    content: 'x'.repeat(30),
    max_cost_microusd: 1_000_000,
    activate: false,
  },
  '/v1/adapters/activate': {
    version_id: 'ver_000000000000000000000000',
    expected_version_id: null,
    tenant_id: 'tenant',
  },
};

/** Texts that have broken a parser, an index or a database before. */
const nasty = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom<unknown>(
    '',
    '\u0000',
    '\ud800',
    '\udfff\u0000',
    '__proto__',
    "'; drop table jobs; --",
    '%00',
    -0,
    1e308,
    2 ** 53,
    null,
    [],
    {},
    {
      constructor: { prototype: 1 },
    },
  ),
);

interface Mutation {
  readonly path: number[];
  readonly kind: 'replace' | 'remove' | 'add';
  readonly value: unknown;
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  path: fc.array(fc.nat(20), { minLength: 1, maxLength: 5 }),
  kind: fc.constantFrom('replace', 'replace', 'remove', 'add'),
  value: nasty,
});

/** The value with one place in it changed: each step of the path picks a child, as long as there is one. */
function mutate(value: unknown, { path, kind, value: replacement }: Mutation): unknown {
  const [step, ...rest] = path;
  if (step === undefined || typeof value !== 'object' || value === null) return replacement;
  const copy = structuredClone(value) as Record<string, unknown>;
  const keys = Object.keys(copy);
  if (keys.length === 0 || (kind === 'add' && rest.length === 0)) {
    Object.defineProperty(copy, nameOf(replacement), {
      value: replacement,
      enumerable: true,
      configurable: true,
      writable: true,
    });
    return copy;
  }
  const picked = keys[step % keys.length]!;
  if (kind === 'remove' && rest.length === 0) {
    if (Array.isArray(copy)) copy.splice(Number(picked), 1);
    else Reflect.deleteProperty(copy, picked);
  } else copy[picked] = mutate(copy[picked], { path: rest, kind, value: replacement });
  return copy;
}

async function assertAnswered(url: string, body: unknown, headers: Record<string, string> = {}): Promise<void> {
  const response = await call(service.app, 'POST', url, {
    key,
    body,
    headers: { 'idempotency-key': `fuzz-${Math.random()}`, ...headers },
  });
  assert.ok(
    response.statusCode < 500,
    `${response.statusCode} for ${JSON.stringify(body)}\n${service.log().slice(-2_000)}`,
  );
  assert.match(String(response.headers['x-request-id']), /^req_/);
  if (response.statusCode < 400) return;
  const { error } = response.json<ErrorEnvelope>();
  assert.equal(errorTable[error.code].status, response.statusCode);
  assert.equal(error.request_id, response.headers['x-request-id']);
}

for (const [url, body] of Object.entries(valid)) {
  test(`POST ${url} answers the untouched body without an error of its reading`, async () => {
    const response = await call(service.app, 'POST', url, { key, body, headers: { 'idempotency-key': 'untouched' } });
    assert.notEqual(response.statusCode, 422, response.body);
  });

  test(`POST ${url} has an answer below 500, in the envelope, to any change of a valid body`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 3 }), async (mutations) => {
        await assertAnswered(url, mutations.reduce(mutate, body));
      }),
      { numRuns: 150 },
    );
  });
}

test('any text as body has an answer below 500', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...Object.keys(valid)), fc.string({ unit: 'binary' }), (url, text) =>
      assertAnswered(url, text),
    ),
    { numRuns: 50 },
  );
});

test('any path, query and header has an answer below 500', async () => {
  const headerText = fc.string({ unit: 'grapheme-ascii' });
  await fc.assert(
    fc.asyncProperty(
      fc.webPath(),
      fc.webQueryParameters(),
      headerText,
      headerText,
      async (path, query, tenant, idempotency) => {
        for (const url of [`/v1/jobs${path}?${query}`, `/v1/subjects?${query}`, `/v1/jobs${path}`, path || '/']) {
          const headers = { 'x-service-tenant': tenant, 'idempotency-key': idempotency };
          const response = await call(service.app, 'GET', url, { key, headers });
          assert.ok(response.statusCode < 500, `${response.statusCode} for ${url}`);
          assert.match(String(response.headers['x-request-id']), /^req_/);
        }
      },
    ),
    { numRuns: 50 },
  );
});

/** A name for an added field; what is no text need not have a `toString` that works. */
function nameOf(value: unknown): string {
  return typeof value === 'string' || value === undefined ? String(value) : JSON.stringify(value);
}
