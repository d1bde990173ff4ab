/** The service and requests of the tests of routes. Each test file opens its own. */
import assert from 'node:assert/strict';
import { job as jobSchema, type Job, type Receipt } from '@engraft/contract';
import type { LightMyRequestResponse } from 'fastify';
import { buildTestApp, call, createTestKey, createTestProject, type TestApp, type TestKey } from './testApp.js';
import { openTestDatabase, type TestDatabase } from './testDatabase.js';

export let database: TestDatabase;
export let service: TestApp;
export async function open(): Promise<void> {
  database = await openTestDatabase();
  service = buildTestApp(database.db);
}
export async function close(): Promise<void> {
  await service.app.close();
  await database.close();
}

export const inference = { subject_id: 'subject', messages: [{ role: 'user', content: 'question' }] };
export const learning = { subject_id: 'subject', content: 'x'.repeat(20), max_cost_microusd: 1_000_000 };

export async function newKey(creditMicrousd = 100_000_000): Promise<TestKey> {
  return createTestKey(database.db, await createTestProject(database.db, creditMicrousd));
}

let usedKeys = 0;

export function post(
  key: TestKey,
  url: string,
  body: unknown,
  headers: Record<string, string | undefined> = {},
  app = service.app,
) {
  usedKeys += 1;
  return call(app, 'POST', url, { key, body, headers: { 'idempotency-key': `routes-${usedKeys}-key`, ...headers } });
}

export function get(key: TestKey, url: string, tenant?: string) {
  return call(service.app, 'GET', url, { key, headers: { 'x-service-tenant': tenant } });
}

export async function readJob(key: TestKey, receipt: LightMyRequestResponse, tenant?: string): Promise<Job> {
  const response = await get(key, receipt.json<Receipt>().status_url, tenant);
  assert.equal(response.statusCode, 200, response.body);
  return jobSchema.strict().parse(response.json());
}

export function assertError(response: LightMyRequestResponse, status: number, code: string, param?: string): void {
  const { error } = response.json<{ error: Record<string, unknown> }>();
  assert.deepEqual([response.statusCode, error['code'], error['param']], [status, code, param]);
}
