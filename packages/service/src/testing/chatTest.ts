/** The service of the tests of chat completions. Each test file opens its own. */
import assert from 'node:assert/strict';
import { chatCompletion, type ChatCompletion, type Job } from '@engraft/contract';
import { EngineError, type GenerateRequest } from '@engraft/engine';
import type { LightMyRequestResponse } from 'fastify';
import { buildTestApp, call, type TestKey } from './testApp.js';
import { scriptedEngine, type ScriptedReply } from './scriptedEngine.js';
import { startTestService, type TestService } from './testService.js';
import type { AppOptions } from '../http/buildApp.js';

export const answered = (): ScriptedReply => ({});
export const neverAnswered = (): ScriptedReply => new Promise<never>(() => undefined);
export const call42 = { id: 'call_42', name: 'look_up', arguments: '{"page": 42}' };
export const wireCall42 = { id: 'call_42', type: 'function', function: { name: 'look_up', arguments: '{"page": 42}' } };
export const lookUp = { type: 'function', function: { name: 'look_up' } };

/** As Mistral's template does. */
export const refusedByTemplate = new EngineError('invalid_request', 'Roles must alternate user/assistant');

export const chat = { model: 'model-5.3', messages: [{ role: 'user', content: 'question' }] };

/** The real service; a scripted engine injects what the model writes. */
export let service: TestService;
/** The reply of the engine, and the requests that it got since the test began. */
export const script: { reply: (request: GenerateRequest) => ScriptedReply; generated: GenerateRequest[] } = {
  reply: answered,
  generated: [],
};
export async function open(): Promise<void> {
  service = await startTestService(
    scriptedEngine((request) => {
      script.generated.push(request);
      return script.reply(request);
    }),
  );
}
export function reset(): void {
  script.reply = answered;
  script.generated = [];
}
export function close(): Promise<void> {
  return service.stop();
}

export function post(
  body: unknown,
  { key = service.key, app = service.app, ...headers }: Record<string, unknown> = {},
): Promise<LightMyRequestResponse> {
  return call(app as TestService['app'], 'POST', '/v1/chat/completions', {
    key: key as TestKey,
    body,
    headers: headers as Record<string, string | undefined>,
  });
}

export async function complete(body: unknown, headers: Record<string, unknown> = {}): Promise<ChatCompletion> {
  const response = await post(body, headers);
  assert.equal(response.statusCode, 200, response.body);
  return chatCompletion.strict().parse(response.json());
}

export interface ErrorBody {
  readonly error: Readonly<Record<string, unknown>>;
}

export function assertError(response: LightMyRequestResponse, status: number, code: string, param?: string): void {
  const { error } = response.json<ErrorBody>();
  assert.deepEqual([response.statusCode, error['code'], error['param']], [status, code, param]);
}

export async function readJob(jobId: string): Promise<Job> {
  return (await call(service.app, 'GET', `/v1/jobs/${jobId}`, { key: service.key })).json<Job>();
}

export async function countJobs(): Promise<number> {
  const { count } = await service.db
    .selectFrom('jobs')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** An app of its own on the same database, without a worker. */
export async function withApp(
  overrides: Partial<AppOptions>,
  use: (app: TestService['app']) => Promise<void>,
): Promise<void> {
  const { app } = buildTestApp(service.db, overrides);
  await use(app);
  await app.close();
}
