import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import type { MemberRole } from '@engraft/contract/console';
import type { Kysely } from 'kysely';
import { thisOperator } from '../audit/operator.js';
import { linkUrl, makeLink } from '../console/links.js';
import type { Database } from '../db/schema.js';
import type { AppOptions } from '../http/buildApp.js';
import { buildTestApp } from './testApp.js';
import { openTestDatabase } from './testDatabase.js';

export interface TestConsole {
  readonly url: string;
  readonly db: Kysely<Database>;
  /** Every log line so far, as text. */
  readonly log: () => string;
  /** Has the rights of the tables' owner. */
  readonly owner: Kysely<Database>;
  stop(): Promise<void>;
}

/** The real application, listening, on a database of its own. No worker runs. */
export async function startTestConsole(overrides: Partial<AppOptions> = {}): Promise<TestConsole> {
  const database = await openTestDatabase();
  // Its clock stands still, so that no limit of attempts becomes free again, however long a test takes.
  const { app, log } = buildTestApp(database.db, { nowMs: () => 0, ...overrides });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    db: database.db,
    log,
    owner: database.owner,
    stop: async () => {
      app.server.closeAllConnections();
      await app.close();
      await database.close();
    },
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Sends what a page of the console would send, and keeps cookies like a browser. */
export class TestBrowser {
  cookie: string | null = null;

  constructor(readonly url: string) {}

  /** Headers that are `null` are left out. */
  async send(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    {
      body,
      headers = {},
    }: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string | null>> } = {},
  ): Promise<Answer> {
    const wanted: Readonly<Record<string, string | null>> = {
      'x-engraft-console': '1',
      ...(method === 'GET' ? {} : { origin: this.url }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(this.cookie === null ? {} : { cookie: this.cookie }),
      ...headers,
    };
    const given = Object.entries(wanted).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: Object.fromEntries(given),
      redirect: 'manual',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const set = response.headers.get('set-cookie');
    if (set !== null) this.cookie = set.includes('Max-Age=0') ? null : (set.split(';')[0] ?? null);
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    const parsed: unknown = isJson ? JSON.parse(text) : {};
    assert.ok(typeof parsed === 'object' && parsed !== null);
    return { status: response.status, headers: response.headers, text, body: { ...parsed } };
  }

  async get(path: string): Promise<Answer> {
    return this.send('GET', `/console/api${path}`);
  }

  async post(path: string, body: unknown, headers: Readonly<Record<string, string | null>> = {}): Promise<Answer> {
    return this.send('POST', `/console/api${path}`, { body, headers });
  }
}

export const testPassword = 'a long enough password';

/** The address of a link that sets up an owner. */
export async function ownerLink(db: Kysely<Database>, url: string): Promise<string> {
  const { token } = await makeLink(db, thisOperator(), { email: null, role: 'owner', project_id: null });
  return linkUrl(url, token);
}

/** A member with this role, in one project or all, who has just set up the account. */
export async function signUp(
  { url, db }: Pick<TestConsole, 'url' | 'db'>,
  email: string,
  role: MemberRole,
  projectId: string | null = null,
): Promise<TestBrowser> {
  const { token } = await makeLink(db, thisOperator(), { email, role, project_id: projectId });
  const browser = new TestBrowser(url);
  const answer = await browser.post('/links/redeem', { token, email, password: testPassword });
  assert.equal(answer.status, 200, answer.text);
  return browser;
}

export function errorOf({ body }: Answer): { readonly code?: unknown; readonly message?: unknown } {
  const { error } = body;
  return typeof error === 'object' && error !== null ? error : {};
}
