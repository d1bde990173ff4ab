import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngraftClient } from '@engraft/client';
import type { Job } from '@engraft/contract';
import { attachEmbeddedPostgres } from '@engraft/service';
import { findAftermath } from '@engraft/service/testing/aftermath.js';
import pg from 'pg';
import { engraft, killDatabase, type ServiceProcess, startService } from './serviceProcess.js';

const passage =
  'The Halden Observatory was founded in 1923 by Marta Ilves. Its largest telescope is called the Grey Heron.';

/** Takes many seconds to train. */
const longPassage = [
  passage,
  'The Halden Observatory stands on Mount Orrin. Its dome weighs 48 tonnes. The dome was built by Kestrel Works in 1931.',
  'The director of the observatory is Elena Markov. She discovered the comet Tavi in 2004. The comet returns every 62 years.',
  'The library of the observatory holds 12000 books. It opens on Tuesdays. A ticket costs 9 euros.',
].join(' ');

const starterCreditMicrousd = 100_000_000;

/** The whole service, killed with SIGKILL while it works, and started again on the same data. */
describe('a killed service', () => {
  let dataFolder: string;
  let service: ServiceProcess;
  beforeEach(async () => {
    dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-crash-'));
    service = await startService(dataFolder);
  });
  afterEach(async () => {
    assert.equal(await service.stop(), 0);
    await rm(dataFolder, { recursive: true });
  });

  const learn = (client: EngraftClient, content = passage): Promise<{ id: string }> =>
    client.internalizations.create(
      { subject_id: 'anna', content, max_cost_microusd: 6_000_000 },
      { idempotencyKey: 'learn-the-passage' },
    );
  const ask = (client: EngraftClient, index: number): Promise<{ id: string }> =>
    client.inferences.create(
      {
        subject_id: 'anna',
        adapter_version: 'base',
        messages: [{ role: 'user', content: `Question ${index}: who founded the observatory?` }],
        max_output_tokens: 40,
      },
      { idempotencyKey: `question-${index}` },
    );

  async function crash(): Promise<void> {
    await service.kill();
    service = await startService(dataFolder);
  }

  /** Asks the database: with a key, one may ask too seldom for phases that are short. */
  async function untilPhase(id: string, wanted: Job['phase']): Promise<void> {
    await withDatabase(async (client) => {
      for (;;) {
        const { rows } = await client.query<Pick<Job, 'phase'>>('SELECT phase FROM jobs WHERE id = $1', [id]);
        if (rows[0]?.phase === wanted) return;
        assert.notEqual(rows[0]?.phase, 'done', `it was never seen in the phase ${wanted}`);
        await sleep(10);
      }
    });
  }

  async function withDatabase<Result>(work: (client: pg.Client) => Promise<Result>): Promise<Result> {
    const database = await attachEmbeddedPostgres(dataFolder);
    const client = new pg.Client(database.url);
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
      await database.release();
    }
  }

  /** The first row, from the service's database. */
  async function readRow<Row extends pg.QueryResultRow>(statement: string, id: string): Promise<Row | undefined> {
    const { rows } = await withDatabase((client) => client.query<Row>(statement, [id]));
    return rows[0];
  }

  /** The usage of the job's finished phases, as they were stored. */
  const readPhaseUsage = (id: string): Promise<Job['usage'] | undefined> =>
    readRow<Job['usage']>(
      `SELECT sum(input_tokens)::int AS input_tokens, sum(output_tokens)::int AS output_tokens,
              sum(cached_input_tokens)::int AS cached_input_tokens, sum(training_tokens)::int AS training_tokens
       FROM job_phases WHERE job_id = $1`,
      id,
    );

  /** Every job has ended, and the money adds up to the last micro-USD. */
  async function assertSettled(ids: readonly string[]): Promise<Job[]> {
    const jobs = await Promise.all(ids.map((id) => service.client.jobs.wait(id)));
    for (const { id, billing, status } of jobs) {
      assert.ok(billing.settled, `${id} is ${status}`);
      assert.ok(billing.charged_microusd <= billing.reserved_microusd);
    }
    const spentMicrousd = jobs.reduce((sum, { billing }) => sum + billing.charged_microusd, 0);
    assert.deepEqual(await engraft(dataFolder, 'balance', '--project', 'default'), {
      available_microusd: starterCreditMicrousd - spentMicrousd,
      reserved_microusd: 0,
      spent_microusd: spentMicrousd,
    });
    const { ok, differences } = (await engraft(dataFolder, 'ledger', 'verify')) as {
      ok: boolean;
      differences: string[];
    };
    assert.ok(ok, differences.join('\n'));
    await assertNothingLeft();
    return jobs;
  }

  /** No orphan file, and no version without its file. */
  async function assertNothingLeft(): Promise<void> {
    const database = await attachEmbeddedPostgres(dataFolder);
    try {
      // The worker removes its files right after the job has ended.
      for (let looked = 1; ; looked += 1) {
        const faults = await findAftermath(database.url, dataFolder);
        if (faults.length === 0) return;
        assert.ok(looked < 50, faults.join('\n'));
        await sleep(100);
      }
    } finally {
      await database.release();
    }
  }

  // Saving and settling are over in a moment and are left out; `crashPoints.test.ts` kills the service in them.
  it('ends a learning job that was killed in every phase, and charges each once', async () => {
    const { id } = await learn(service.client);
    for (const phase of ['teaching', 'scoring', 'training', 'evaluating'] as const) {
      await untilPhase(id, phase);
      await crash();
    }
    const [killed] = await assertSettled([id]);
    assert.ok(killed !== undefined && ['ready', 'rejected'].includes(killed.status), killed?.status);

    assert.deepEqual(killed.usage, await readPhaseUsage(id), 'each phase is charged once, however often it was begun');
  });

  it('goes on with a training from its last snapshot', async () => {
    const { id } = await learn(service.client, longPassage);
    const trained = async (): Promise<number> => {
      const row = await readRow<{ steps: number }>('SELECT training_steps AS steps FROM jobs WHERE id = $1', id);
      return row?.steps ?? 0;
    };
    while ((await trained()) === 0) {
      assert.notEqual((await service.client.jobs.get(id)).phase, 'done', 'it was trained before it could be killed');
      await sleep(300);
    }
    await service.kill();
    const kept = await trained();
    const logged: string[] = [];
    service = await startService(dataFolder, (line) => logged.push(line));
    const [job] = await assertSettled([id]);
    assert.ok(job !== undefined && ['ready', 'rejected'].includes(job.status), job?.status);
    const resumed = logged.find((line) => line.includes('goes on from its last snapshot')) ?? '';
    assert.match(resumed, new RegExp(`"steps":${kept},`), logged.join('\n'));
    assert.deepEqual(job.usage, await readPhaseUsage(id), 'no step is charged twice');
  });

  it('answers every admitted question once, and gives the same job for the same idempotency key', async () => {
    const first = await Promise.all(Array.from({ length: 12 }, (_, index) => ask(service.client, index)));
    await sleep(60);
    await crash();
    const again = await Promise.all(Array.from({ length: 12 }, (_, index) => ask(service.client, index)));
    assert.deepEqual(
      again.map(({ id }) => id),
      first.map(({ id }) => id),
    );
    const jobs = await assertSettled(first.map(({ id }) => id));
    assert.deepEqual(new Set(jobs.map(({ status }) => status)), new Set(['succeeded']));
  });

  it('goes on when only the database is killed', async () => {
    const receipts = await Promise.all([0, 1, 2].map((index) => ask(service.client, index)));
    await killDatabase(dataFolder);
    const id = await answeredAgain(async () => (await ask(service.client, 3)).id);
    await answeredAgain(() => assertSettled([...receipts.map((receipt) => receipt.id), id]));
  });

  it('loses nothing when service and database are killed together', async () => {
    const receipts = await Promise.all(Array.from({ length: 6 }, (_, index) => ask(service.client, index)));
    await killDatabase(dataFolder);
    await crash();
    await assertSettled(receipts.map(({ id }) => id));
  });
});

/** Repeats until the service has its database again. */
async function answeredAgain<Result>(request: () => Promise<Result>): Promise<Result> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    try {
      return await request();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(200);
    }
  }
}
