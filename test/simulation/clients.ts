import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SimulatedWorld } from '@engraft/service/testing/simulatedWorld.js';
import type { TestKey } from '@engraft/service/testing/testApp.js';
import type { WorldState } from '@engraft/service/testing/worldState.js';
import { z } from 'zod';
import type { Model } from './model.js';
import type { Operation, VersionChoice } from './operations.js';

export interface Client {
  readonly project_id: string;
  readonly tenant_id: string | null;
  readonly key: TestKey;
}

interface Wish {
  readonly url: string;
  readonly body: object;
  /** `undefined`: the request asks for the active version. */
  readonly version: string | undefined;
  readonly subject: string;
}

const receipt = z.object({ id: z.string() });
const refusal = z.object({ error: z.object({ code: z.string() }) });
const passage = 'Three stones lie on the table of the reading room.';
const maxCostMicrousd = 5_000_000;

/** Requests of several clients, and what each answer must be. */
export class Clients {
  /** The reservation of a question, as the first one showed. */
  #questionMicrousd: number | null = null;
  /** How often somebody asked for what is not theirs, or with a key that was revoked. */
  leaks_tried = 0;

  constructor(
    readonly world: SimulatedWorld,
    readonly model: Model,
    readonly list: Client[],
  ) {}

  at(index: number): Client {
    const client = this.list[index % this.list.length];
    assert.ok(client !== undefined);
    return client;
  }

  async admit(
    operation: Extract<Operation, { do: 'ask' | 'learn' }>,
    before: WorldState,
    nowMs: number,
  ): Promise<void> {
    const client = this.at(operation.client);
    const wish = wishOf(operation, before);
    const { status, body } = await this.#post(client, operation.key, wish);
    const earlier = this.model.admitted.get(nameOf(client, operation.key));
    if (earlier !== undefined) {
      if (earlier.wish !== textOf(wish)) assert.deepEqual([status, codeOf(body)], [409, 'idempotency_conflict']);
      else assert.deepEqual([status, receipt.parse(body).id], [200, earlier.job_id], 'a replay');
      return;
    }
    if (status === 202) {
      this.#record(client, operation.key, wish, body);
      this.#assertUsable(client, wish, before);
      return;
    }
    const subject = subjectOf(client, wish.subject, before);
    const version = before.versions.find(({ id }) => id === (wish.version ?? subject?.active_version_id));
    switch (codeOf(body)) {
      case 'insufficient_credits':
        assert.ok(this.#cannotPay(client, operation.do, before), 'there is credit');
        return;
      case 'not_found':
        assert.ok(version !== undefined && version.subject_ref !== subject?.id, 'there is such a version');
        this.leaks_tried += 1;
        return;
      case 'adapter_expired':
        assert.ok(version !== undefined && isOver(version, nowMs), 'the version has not expired');
        return;
      default:
        assert.fail(`${status} ${JSON.stringify(body)}`);
    }
  }

  async race({ client: index, key, copies }: Extract<Operation, { do: 'race' }>): Promise<(after: WorldState) => void> {
    const client = this.at(index);
    const wish = questionOf('subject-0', undefined);
    const answers = await Promise.all(Array.from({ length: copies }, () => this.#post(client, key, wish)));
    for (const { status } of answers) assert.ok([200, 202, 402, 409].includes(status), `${status}`);
    const earlier = this.model.admitted.get(nameOf(client, key));
    const admitted = answers.filter(({ status }) => status < 300).map(({ body }) => receipt.parse(body).id);
    assert.ok(answers.filter(({ status }) => status === 202).length <= 1, 'identical requests are admitted once');
    if (earlier === undefined) {
      const [first] = answers.filter(({ status }) => status === 202);
      if (first !== undefined) this.#record(client, key, wish, first.body);
    } else if (earlier.wish === textOf(wish)) {
      assert.deepEqual(
        admitted,
        answers.map(() => earlier.job_id),
      );
    } else {
      assert.deepEqual(admitted, []);
    }
    assert.ok(new Set(admitted).size <= 1, 'identical requests give one job');
    return () => undefined;
  }

  async cut({ client: index, key }: Extract<Operation, { do: 'cut' }>): Promise<(after: WorldState) => void> {
    const client = this.at(index);
    const wish = questionOf('subject-0', undefined);
    await Promise.all([this.#post(client, key, wish).catch(() => undefined), this.world.cut()]);
    for (;;) {
      await sleep(10);
      // Connections that were cut are noticed one by one.
      const again = await this.#post(client, key, wish).catch(() => null);
      if (again === null || again.status >= 500) continue;
      if (again.status < 300 && !this.model.admitted.has(nameOf(client, key))) {
        this.#record(client, key, wish, again.body);
      }
      return () => undefined;
    }
  }

  async activate(
    { client: index, version: choice, expected, copies }: Extract<Operation, { do: 'activate' }>,
    before: WorldState,
    nowMs: number,
  ): Promise<(after: WorldState) => void> {
    const client = this.at(index);
    const version = before.versions[choice % Math.max(1, before.versions.length)];
    if (version === undefined) return () => undefined;
    const subject = before.subjects.find(({ id }) => id === version.subject_ref);
    assert.ok(subject !== undefined);
    const active = subject.active_version_id;
    const expectedVersionId = expected === 'active' ? active : versionOf(expected, before, null);
    const request = { version_id: version.id, expected_version_id: expectedVersionId };
    const answers = await Promise.all(
      Array.from({ length: copies }, () => this.world.call('POST', '/v1/adapters/activate', client.key, request)),
    );
    const codes = answers.map(({ status, body }) => (status === 200 ? 'activated' : codeOf(body)));
    const isOwn = subject.project_id === client.project_id && subject.tenant_id === client.tenant_id;
    if (!isOwn) {
      this.leaks_tried += copies;
      assert.deepEqual(new Set(codes), new Set(['not_found']));
    } else if (expectedVersionId !== active) assert.deepEqual(new Set(codes), new Set(['activation_conflict']));
    else if (this.model.expired.has(version.id)) assert.deepEqual(new Set(codes), new Set(['adapter_expired']));
    else if (!isOver(version, nowMs)) assert.ok(codes.includes('activated'), codes.join());
    const successes = codes.filter((code) => code === 'activated').length;
    if (version.id !== active) assert.ok(successes <= 1, 'a compare-and-set succeeds once');
    return (after) => {
      const now = after.subjects.find(({ id }) => id === subject.id);
      assert.equal(now?.revision, subject.revision + successes);
      assert.equal(now.active_version_id, successes > 0 ? version.id : active);
    };
  }

  /** "Revoking a key blocks later authenticated requests"; the client is given another one. */
  async revoke(index: number): Promise<void> {
    const client = this.at(index);
    assert.equal((await this.world.revoke(client.key.id)).kind, 'revoked');
    const { status } = await this.world.call('GET', '/v1/subjects', client.key);
    assert.ok([401, 429].includes(status), 'a revoked key opens something');
    this.leaks_tried += 1;
    const key = await this.world.newKey(client.project_id, client.tenant_id);
    this.list[index % this.list.length] = { ...client, key };
  }

  #post({ key }: Client, idempotencyKey: number, { url, body }: Wish) {
    return this.world.call('POST', url, key, body, { 'idempotency-key': `simulated-${idempotencyKey}` });
  }

  #record(client: Client, key: number, wish: Wish, body: unknown): void {
    this.model.admitted.set(nameOf(client, key), { job_id: receipt.parse(body).id, wish: textOf(wish) });
  }

  #assertUsable(client: Client, wish: Wish, before: WorldState): void {
    const used = wish.version ?? subjectOf(client, wish.subject, before)?.active_version_id;
    assert.ok(typeof used !== 'string' || !this.model.expired.has(used), 'a version that an operator ended is used');
  }

  #cannotPay(client: Client, kind: 'ask' | 'learn', { accounts, jobs }: WorldState): boolean {
    const question = jobs.find((job) => job.kind === 'inference');
    this.#questionMicrousd ??= question?.reserved_microusd ?? null;
    const available = accounts.find(
      (account) => account.kind === 'available' && account.project_id === client.project_id,
    );
    const priceMicrousd = kind === 'learn' ? maxCostMicrousd : (this.#questionMicrousd ?? Infinity);
    return (available?.balance_microusd ?? 0) < priceMicrousd;
  }
}

function wishOf(operation: Extract<Operation, { do: 'ask' | 'learn' }>, before: WorldState): Wish {
  const subject = `subject-${operation.subject}`;
  if (operation.do === 'ask') return questionOf(subject, versionOf(operation.version, before, 'base'));
  const body = {
    subject_id: subject,
    content: passage,
    max_cost_microusd: maxCostMicrousd,
    activate: operation.activate,
  };
  return { url: '/v1/internalizations', body, version: undefined, subject };
}

function questionOf(subject: string, version: string | undefined): Wish {
  const body = {
    subject_id: subject,
    messages: [{ role: 'user', content: 'Which is stone 1?' }],
    max_output_tokens: 20,
    ...(version === undefined ? {} : { adapter_version: version }),
  };
  return { url: '/v1/inferences', body, version, subject };
}

/** `undefined`: the active one. */
function versionOf(choice: VersionChoice, before: WorldState, base: 'base'): string | undefined;
function versionOf(choice: VersionChoice, before: WorldState, base: null): string | null;
function versionOf(choice: VersionChoice, { versions }: WorldState, base: 'base' | null): string | null | undefined {
  if (choice === 'base') return base;
  const version = choice === 'active' ? undefined : versions[choice % Math.max(1, versions.length)];
  return version?.id ?? (base === null ? null : undefined);
}

function isOver(version: WorldState['versions'][number], nowMs: number): boolean {
  return version.retention_ended_at !== null || version.expires_at.getTime() <= nowMs + 2_000;
}

function subjectOf(client: Client, name: string, { subjects }: WorldState) {
  return subjects.find(
    (subject) =>
      subject.project_id === client.project_id && subject.tenant_id === client.tenant_id && subject.name === name,
  );
}

function nameOf({ project_id, tenant_id }: Client, key: number): string {
  return JSON.stringify([project_id, tenant_id, key]);
}

function textOf({ url, body }: Wish): string {
  return JSON.stringify([url, body]);
}

function codeOf(body: unknown): string {
  return refusal.parse(body).error.code;
}
