import assert from 'node:assert/strict';
import { createTestVersion } from '@engraft/service/testing/testVersion.js';
import {
  buildTestApp,
  call,
  createTestKey,
  createTestProject,
  type TestApp,
  type TestKey,
} from '@engraft/service/testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '@engraft/service/testing/testDatabase.js';
import type { LightMyRequestResponse } from 'fastify';

/** A key, and the tenant that it selects: its own, or one that it asks for. */
interface Caller {
  readonly key: TestKey;
  readonly tenant: string | null;
  /** Whether it may only act for that tenant. */
  readonly restricted: boolean;
}

/** The belongings of one caller. */
export interface Holding {
  readonly owner: Caller;
  readonly job_id: string;
  readonly version_id: string;
}

/** Everybody has a subject of this name: only project and tenant tell the subjects apart. */
export const subjectId = 'subject-of-everybody';

/** Two projects with the same three tenants, each of which has a job and a version, and keys of both kinds. */
export class IsolationWorld {
  readonly holdings: Holding[] = [];
  #asked = 0;

  private constructor(
    readonly database: TestDatabase,
    readonly service: TestApp,
  ) {}

  static async open(): Promise<IsolationWorld> {
    const database = await openTestDatabase({ maxConnections: 8, durable: false });
    const world = new IsolationWorld(database, buildTestApp(database.db));
    await world.#fill();
    return world;
  }

  async #fill(): Promise<void> {
    const { db } = this.database;
    // The names of tenants are the same in every project.
    for (const project of [await createTestProject(db), await createTestProject(db)]) {
      const open = await createTestKey(db, project);
      for (const tenant of [null, 'a', 'b']) {
        const own = tenant === null ? open : await createTestKey(db, project, { tenant_id: tenant });
        const owner = { key: own, tenant, restricted: tenant !== null };
        const version = await createTestVersion(db, own, { tenant_id: tenant, subject_id: subjectId });
        const asked = await this.#ask(owner, { idempotency_key: 'the-same-key' });
        assert.equal(asked.statusCode, 202);
        const { id: jobId } = asked.json<{ id: string }>();
        const owners = tenant === null ? [owner] : [owner, { ...owner, key: open, restricted: false }];
        this.holdings.push(...owners.map((each) => ({ owner: each, job_id: jobId, version_id: version.id })));
      }
    }
  }

  async close(): Promise<void> {
    await this.service.app.close();
    await this.database.close();
  }

  get(url: string, { key, ...caller }: Caller): Promise<LightMyRequestResponse> {
    return call(this.service.app, 'GET', url, { key, headers: headersOf(caller) });
  }

  /**
   * Whoever is `from` tries to read the job of `of`, to use the version and to activate it, and does the same with
   * names that nobody has. Returns how many of these told it something that it may not know, in sentences.
   * @param nothing 24 letters and digits
   */
  async probe(from: Holding, of: Holding, nothing: string): Promise<{ tried: number; leaks: string[] }> {
    const { owner: caller } = from;
    const readJob = (id: string) => this.get(`/v1/jobs/${id}`, caller);
    const pin = (adapterVersion: string) =>
      this.#ask(caller, { idempotency_key: this.#newKey(), adapter_version: adapterVersion });
    const activate = (versionId: string) => {
      const body = { version_id: versionId, expected_version_id: 'never-active' };
      const headers = headersOf(caller);
      return call(this.service.app, 'POST', '/v1/adapters/activate', { key: caller.key, headers, body });
    };
    if (isSameScope(caller, of.owner)) {
      assert.equal((await readJob(of.job_id)).statusCode, 200);
      assert.equal((await pin(of.version_id)).statusCode, 202);
      assert.equal((await activate(of.version_id)).statusCode, 409);
      return { tried: 0, leaks: [] };
    }
    const pairs = [
      ['read a job', await readJob(of.job_id), await readJob(`job_${nothing}`)],
      ['used a version', await pin(of.version_id), await pin(`ver_${nothing}`)],
      ['activated a version', await activate(of.version_id), await activate(`ver_${nothing}`)],
    ] as const;
    const leaks = pairs.flatMap(([what, theirs, none]) => {
      const [shownOfTheirs, shownOfNone] = [shown(theirs), shown(none)];
      const tells = theirs.statusCode !== 404 || shownOfTheirs !== shownOfNone;
      return tells ? [`whoever ${what} of others saw ${shownOfTheirs}, and of nobody's ${shownOfNone}`] : [];
    });
    return { tried: pairs.length, leaks };
  }

  #newKey(): string {
    this.#asked += 1;
    return `isolation-${this.#asked}`;
  }

  #ask(caller: Caller, { idempotency_key = '', adapter_version = 'base' }): Promise<LightMyRequestResponse> {
    const headers = { ...headersOf(caller), 'idempotency-key': idempotency_key };
    const body = { subject_id: subjectId, adapter_version, messages: [{ role: 'user', content: 'Who?' }] };
    return call(this.service.app, 'POST', '/v1/inferences', { key: caller.key, headers, body });
  }
}

export const isSameScope = (a: Caller, b: Caller): boolean =>
  a.key.project_id === b.key.project_id && a.tenant === b.tenant;

function headersOf({ tenant, restricted }: Omit<Caller, 'key'>): Record<string, string> {
  return tenant === null || restricted ? {} : { 'x-service-tenant': tenant };
}

/** All that an answer shows but what is new in each: its request id, its time, and what is left of the rate. */
function shown(response: LightMyRequestResponse): string {
  const isNew = (name: string) => name === 'x-request-id' || name === 'date' || name.startsWith('x-ratelimit-');
  const others = Object.entries(response.headers).filter(([name]) => !isNew(name));
  const body = response.body.replaceAll(/req_[\w-]+/g, 'req');
  return JSON.stringify({ status: response.statusCode, headers: others, body });
}
