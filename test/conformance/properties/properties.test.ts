import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { errorTable, openApiDocument, type ErrorCode, type ErrorEnvelope } from '@engraft/contract';
import { call, createTestKey, createTestProject, type TestKey } from '@engraft/service/testing/testApp.js';
import { findHalfStates } from '@engraft/service/testing/findHalfStates.js';
import { createTestVersion, expireTestVersion } from '@engraft/service/testing/testVersion.js';
import fc from 'fast-check';
import { pino } from 'pino';
import { openConformanceService, type ConformanceService } from '../service.js';
import { mutated } from './mutations.js';
import { validRequest, type Landmarks, type SentRequest } from './requests.js';

/** Fewer while working: ENGRAFT_TEST_PROPERTY_RUNS=500. */
const runs = Number(process.env['ENGRAFT_TEST_PROPERTY_RUNS'] ?? 10_000);
const seed = 20_261_120;
/** This many requests run at once, as callers do it; it is also faster. */
const concurrency = 8;
/** The database is looked at whenever so many requests have been answered. */
const batchSize = 500;

const { paths } = openApiDocument();

let service: ConformanceService;
let landmarks: Landmarks;
/** Most requests come from a project with credit, every eighth from one that soon has none. */
let rich: TestKey;
let poor: TestKey;
before(async () => {
  // A context that long prompts pass, chats that do not wait (no worker runs), and no log to collect.
  const overrides = { contextLength: 12_000, chatWaitMs: 0, logger: pino({ level: 'silent' }) };
  service = await openConformanceService(overrides, { durable: false });
  const { db } = service.database;
  rich = await createTestKey(db, await createTestProject(db, 1_000_000_000_000_000));
  poor = await createTestKey(db, await createTestProject(db, 3_000_000));
  const versions = [
    await createTestVersion(db, rich, { subject_id: 'ada' }),
    await createTestVersion(db, rich, { subject_id: 'ada', activate: false }),
    await createTestVersion(db, rich, { subject_id: 'bob', tenant_id: 'blue' }),
    await createTestVersion(db, rich, { subject_id: 'dan' }),
  ];
  await expireTestVersion(db, versions[3]?.id ?? '');
  landmarks = { version_ids: versions.map(({ id }) => id), job_ids: versions.map(({ job_id }) => job_id) };
});
after(() => service.close());

interface Answer {
  readonly status: number;
  readonly code: ErrorCode | null;
  /** Whether it admitted a job that was not there before. */
  readonly admitted_job_id: string | null;
}

const admittedButUnanswered: readonly (ErrorCode | null)[] = [
  'job_pending',
  'job_failed',
  'job_reconciliation_required',
];

async function send({ method, url, headers, body }: SentRequest, key: TestKey): Promise<Answer> {
  const response = await call(service.app.app, method, url, { key, headers, ...(body === undefined ? {} : { body }) });
  const status = response.statusCode;
  assert.match(String(response.headers['x-request-id']), /^req_/);
  const isStream = response.body.startsWith(':');
  if (status < 400 && !isStream) {
    return { status, code: null, admitted_job_id: status === 202 ? response.json<{ id: string }>().id : null };
  }
  const parsed = JSON.parse(isStream ? lastEvent(response.body) : response.body) as ErrorEnvelope;
  const { code, retryable, request_id, job_id = null } = parsed.error;
  assert.equal(errorTable[code].retryable, retryable);
  assert.equal(request_id, response.headers['x-request-id']);
  if (status >= 400) assert.equal(errorTable[code].status, status);
  return { status, code, admitted_job_id: admittedButUnanswered.includes(code) ? job_id : null };
}

/** The envelope in a stream whose job is pending stands in the frame before the last. */
function lastEvent(stream: string): string {
  const frames = stream.split('\n\n').filter((frame) => frame.startsWith('data: {'));
  return frames.at(-1)?.slice('data: '.length) ?? '{}';
}

function isDocumented({ operation, method }: SentRequest, { status, code }: Answer): boolean {
  const response = paths[operation]?.[method === 'GET' ? 'get' : 'post']?.responses[errorStatus(status, code)];
  if (response === undefined) return false;
  return code === null || code in (response.content['application/json']?.examples ?? {});
}

/** An error inside a stream has the status it would have had alone. */
function errorStatus(status: number, code: ErrorCode | null): string {
  return String(code === null ? status : errorTable[code].status);
}

/** Sends all of them, a few at a time, and looks at the database after each batch. Returns how often each code came. */
async function sendAll(
  requests: readonly SentRequest[],
  check: (request: SentRequest, answer: Answer) => void,
): Promise<ReadonlyMap<string, number>> {
  const answers = new Map<string, number>();
  const admitted = new Set<string>();
  const { jobs: jobsBefore } = await findHalfStates(service.database.db);
  for (let start = 0; start < requests.length; start += batchSize) {
    const queue = requests.slice(start, start + batchSize).entries();
    const worker = async (): Promise<void> => {
      for (const [index, request] of queue) {
        const answer = await send(request, index % 8 === 0 ? poor : rich);
        try {
          check(request, answer);
        } catch (cause) {
          throw new Error(`request ${start + index} of seed ${seed}: ${JSON.stringify({ request, answer })}`, {
            cause,
          });
        }
        if (answer.admitted_job_id !== null) admitted.add(answer.admitted_job_id);
        const name = answer.code ?? String(answer.status);
        answers.set(name, (answers.get(name) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
    const state = await findHalfStates(service.database.db);
    assert.deepEqual(state.halfStates, []);
    assert.equal(state.jobs - jobsBefore, admitted.size, 'as many jobs as were admitted');
  }
  return answers;
}

describe('properties of all requests', () => {
  test(`${runs} valid requests are admitted or answered, or refused for a documented reason`, async (context) => {
    const requests = fc.sample(validRequest(landmarks), { numRuns: runs, seed });
    const answers = await sendAll(requests, (request, answer) => {
      assert.ok(isDocumented(request, answer));
      assert.notEqual(answer.code, 'invalid_request');
      assert.ok(answer.status < 500);
    });
    context.diagnostic(JSON.stringify(Object.fromEntries(answers)));
    // The generator reaches every outcome that such requests can have.
    for (const outcome of [
      '200',
      '202',
      'insufficient_credits',
      'not_found',
      'adapter_expired',
      'idempotency_conflict',
    ]) {
      assert.ok(answers.has(outcome), outcome);
    }
    for (const outcome of ['context_length_exceeded', 'activation_conflict', 'job_pending'])
      assert.ok(answers.has(outcome), outcome);
  });

  test(`${runs} mutated requests have an answer of the contract, never 500, and leave no half state`, async (context) => {
    const requests = fc.sample(mutated(validRequest(landmarks)), { numRuns: runs, seed: seed + 1 });
    const answers = await sendAll(requests, (request, answer) => {
      assert.ok(answer.status < 500);
      const elsewhere = answer.code === 'not_found' || answer.code === 'method_not_allowed';
      assert.ok(elsewhere || isDocumented(request, answer) || request.url !== request.operation);
    });
    context.diagnostic(JSON.stringify(Object.fromEntries(answers)));
    for (const outcome of ['invalid_request', 'payload_too_large', 'unauthorized', 'server_keys_only', 'not_found']) {
      assert.ok(answers.has(outcome), outcome);
    }
  });
});
