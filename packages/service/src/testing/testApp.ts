import { Writable } from 'node:stream';
import type { ChatPrompt } from '@engraft/engine';
import type { Scope, TenantId } from '@engraft/contract';
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import type { Kysely } from 'kysely';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import type { OpenJobLimits } from '../admission/checkOpenJobs.js';
import type { Database } from '../db/schema.js';
import { buildApp, type AppOptions } from '../http/buildApp.js';
import { createKey } from '../keys/createKey.js';
import { grantCredit } from '../ledger/grantCredit.js';
import { createProject } from '../projects/createProject.js';
import { setProject } from '../projects/setProject.js';

export interface TestApp {
  readonly app: FastifyInstance;
  /** Every log line so far, as text. */
  readonly log: () => string;
}

/** The real application on a real database. Only the tokenizer is simple: a token for each UTF-16 unit. */
export function buildTestApp(db: Kysely<Database>, overrides: Partial<AppOptions> = {}): TestApp {
  let log = '';
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, written) => {
      log += chunk.toString();
      written();
    },
  });
  const app = buildApp({
    db,
    countTokens: countUnits,
    contextLength: 100_000,
    execution: 'on',
    open_jobs: plentyOfJobs,
    model_id: 'model-5.3',
    // No worker runs unless a test starts one.
    chatWaitMs: 0,
    readiness: () => Promise.resolve([]),
    logger: pino({ level: 'debug' }, sink),
    metrics: new Registry(),
    ...overrides,
  });
  return { app, log: () => log };
}

/** A limit that no test reaches. */
export const plentyOfJobs: OpenJobLimits = { of_project: 100_000, of_service: 100_000 };

/** A token for each UTF-16 unit of the messages' contents, and one for each message. */
export function countUnits(prompt: ChatPrompt): number {
  return prompt.messages.reduce((tokens, message) => tokens + message.content.length + 1, 0);
}

let createdProjects = 0;

/** A project with credit (by default 100 USD) and practically no limit of requests. Returns its id. */
export async function createTestProject(db: Kysely<Database>, creditMicrousd = 100_000_000): Promise<string> {
  createdProjects += 1;
  const outcome = await createProject(db, { name: `project ${createdProjects}` });
  if (outcome.kind !== 'created') throw new Error(outcome.kind);
  const { id } = outcome.project;
  await setProject(db, id, { requests_per_minute: 60_000_000 });
  if (creditMicrousd > 0) await grantCredit(db, { project_id: id, amount_microusd: creditMicrousd, memo: 'test' });
  return id;
}

export interface TestKey {
  readonly id: string;
  readonly secret: string;
  readonly project_id: string;
  /** The `Authorization` header. */
  readonly authorization: string;
}

const allScopes: readonly Scope[] = ['read', 'inference', 'internalize', 'adapters'];

export async function createTestKey(
  db: Kysely<Database>,
  projectId: string,
  options: { readonly scopes?: readonly Scope[]; readonly tenant_id?: TenantId; readonly expires_at?: Date } = {},
): Promise<TestKey> {
  const outcome = await createKey(db, {
    project_id: projectId,
    name: 'test',
    scopes: options.scopes ?? allScopes,
    tenant_id: options.tenant_id ?? null,
    expires_at: options.expires_at ?? null,
  });
  if (outcome.kind !== 'created') throw new Error(outcome.kind);
  return {
    id: outcome.key.id,
    secret: outcome.secret,
    project_id: projectId,
    authorization: `Bearer ${outcome.secret}`,
  };
}

/** A JSON request in memory, with the key and the given headers. Headers that are `undefined` are left out. */
export async function call(
  app: FastifyInstance,
  method: 'GET' | 'POST',
  url: string,
  options: {
    readonly key?: TestKey;
    readonly headers?: Readonly<Record<string, string | undefined>>;
    readonly body?: unknown;
  } = {},
): Promise<LightMyRequestResponse> {
  const wanted: Record<string, string | undefined> = {
    ...(options.key === undefined ? {} : { authorization: options.key.authorization }),
    ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...options.headers,
  };
  const headers = Object.fromEntries(
    Object.entries(wanted).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const request: InjectOptions = { method, url, headers };
  if (options.body !== undefined) {
    request.payload = typeof options.body === 'string' ? options.body : JSON.stringify(options.body);
  }
  return app.inject(request);
}
