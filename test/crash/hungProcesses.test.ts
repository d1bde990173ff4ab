import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { attachEmbeddedPostgres } from '@engraft/service';
import pg from 'pg';
import { enginesOf, type ServiceProcess, signalDatabase, startService } from './serviceProcess.js';

const passage =
  'The Halden Observatory was founded in 1923 by Marta Ilves. Its largest telescope is called the Grey Heron.';

/** Generous: it proves that there is an end. */
const bound = { timeout: 300_000 };

interface JobRow {
  readonly status: string;
  readonly worker_id: string | null;
}

/** The whole service. Processes of it are stopped with SIGSTOP: they live, and do nothing any more. */
describe('a service of which a part hangs', { skip: process.platform !== 'linux' }, () => {
  let dataFolder: string;
  let service: ServiceProcess;
  beforeEach(async () => {
    dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-hung-'));
    service = await startService(dataFolder);
  });
  afterEach(async () => {
    assert.equal(await service.stop(), 0);
    await rm(dataFolder, { recursive: true });
  });

  let asked = 0;
  /** Questions that take a while. */
  async function ask(count: number): Promise<string[]> {
    const receipts = Array.from({ length: count }, () =>
      service.client.inferences.create(
        {
          subject_id: 'anna',
          adapter_version: 'base',
          messages: [{ role: 'user', content: `Question ${asked}: tell me all that you know. ${passage.repeat(20)}` }],
          max_output_tokens: 200,
        },
        { idempotencyKey: `question-${(asked += 1)}` },
      ),
    );
    return (await Promise.all(receipts)).map(({ id }) => id);
  }

  const readiness = async (): Promise<{ status: number; body: string }> => {
    const response = await fetch(`${service.url}/readyz`);
    return { status: response.status, body: await response.text() };
  };

  async function untilReadiness(status: number): Promise<string> {
    for (;;) {
      const now = await readiness();
      if (now.status === status) return now.body;
      await sleep(100);
    }
  }

  async function untilRunning(id: string): Promise<void> {
    while ((await service.client.jobs.get(id)).status === 'queued') await sleep(20);
  }

  /** The jobs as they are in the database of a service that has ended. */
  async function readJobs(): Promise<readonly JobRow[]> {
    const database = await attachEmbeddedPostgres(dataFolder);
    const client = new pg.Client(database.url);
    await client.connect();
    const { rows } = await client.query<JobRow>('SELECT status, worker_id FROM jobs ORDER BY created_at');
    await client.end();
    await database.release();
    return rows;
  }

  it(
    '"200 only when database, model and engine can take work": not while the engine hangs, whose jobs another repeats',
    bound,
    async () => {
      const [hung] = await enginesOf(service);
      assert.ok(hung !== undefined);
      const begun = await ask(4);
      for (const id of begun) await untilRunning(id);
      process.kill(hung, 'SIGSTOP');
      const stopped = await Promise.all(begun.map((id) => service.client.jobs.get(id)));
      assert.ok(stopped.some(({ status }) => status === 'running'));
      const missing = 'engine: not responding';
      assert.deepEqual(JSON.parse(await untilReadiness(503)), { status: 'unavailable', missing: [missing] });
      const waiting = await ask(4);
      for (const id of waiting) assert.equal((await service.client.jobs.get(id)).status, 'queued');
      await untilReadiness(200);
      const jobs = await Promise.all([...begun, ...waiting].map((id) => service.client.jobs.wait(id)));
      assert.deepEqual(new Set(jobs.map(({ status }) => status)), new Set(['succeeded']));
      const [engine, ...rest] = await enginesOf(service);
      assert.ok(engine !== undefined && engine !== hung && rest.length === 0);
      const metrics = await (await fetch(`${service.url}/metrics`)).text();
      assert.match(metrics, /^engraft_engine_losses_total{purpose="serving",reason="unresponsive"} 1$/m);
    },
  );

  it(
    '"SIGTERM drains: no new work, running work is finished or handed back, exit 0", also when both engines hang',
    bound,
    async () => {
      const learning = await service.client.internalizations.create(
        { subject_id: 'anna', content: passage, max_cost_microusd: 3_000_000 },
        { idempotencyKey: 'learn-the-passage' },
      );
      while ((await enginesOf(service)).length < 2) await sleep(50);
      const [first] = await ask(12);
      assert.ok(first !== undefined);
      await untilRunning(first);
      assert.equal((await service.client.jobs.get(learning.id)).phase, 'training');
      for (const engine of await enginesOf(service)) process.kill(engine, 'SIGSTOP');
      const stopped = await Promise.race([service.stop(), sleep(45_000, 'still running', { ref: false })]);
      assert.equal(stopped, 0);
      const jobs = await readJobs();
      assert.equal(jobs.length, 13);
      // Jobs that succeeded had ended before the engine hung.
      const open = jobs.filter(({ status }) => status !== 'succeeded');
      assert.ok(open.length > 0);
      assert.deepEqual(new Set(open.map(({ status }) => status)), new Set(['queued']));
      assert.deepEqual(new Set(open.map(({ worker_id }) => worker_id)), new Set([null]));
    },
  );

  it('ends in time, if with exit 1, when it cannot stop its database', bound, async () => {
    await signalDatabase(dataFolder, 'SIGSTOP');
    assert.equal(await service.stop(), 1);
    await signalDatabase(dataFolder, 'SIGCONT');
    service = await startService(dataFolder);
  });
});
