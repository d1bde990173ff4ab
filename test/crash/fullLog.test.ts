import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { attachEmbeddedPostgres } from '@engraft/service';
import { findAftermath, findDoubleCharges } from '@engraft/service/testing/aftermath.js';
import { mountSmallDisk, noSmallDisk, type SmallDisk } from '@engraft/service/testing/smallDisk.js';
import pg from 'pg';
import { killDatabase, type ServiceProcess, startService } from './serviceProcess.js';

/** Room for the database, and little more. */
const diskBytes = 256 * 2 ** 20;

/** The whole service with its database on a real disk that is really full. */
describe('a disk that is full while PostgreSQL writes its log', () => {
  let disk: SmallDisk | null;
  before(async () => {
    disk = await mountSmallDisk(diskBytes);
  });
  after(() => disk?.remove());

  it('ends the service, and the next start finds every job, charged once', async (t: TestContext) => {
    if (disk === null) {
      t.skip(noSmallDisk);
      return;
    }
    const dataFolder = path.join(disk.folder, 'data');
    const log: string[] = [];
    const first = await startService(dataFolder, (line) => log.push(line));
    t.after(async () => {
      await first.kill();
      // A server that is left would keep its disk busy for a minute.
      await killDatabase(dataFolder).catch(() => undefined);
    });
    const receipts = new Map<string, string>();
    const keys = Array.from({ length: 12 }, (_, index) => `question-${index}`);
    for (const key of keys.slice(0, 4)) receipts.set(key, await ask(first, key));
    await untilEnded(first, receipts.get('question-0') ?? '');

    await disk.fill(0);
    const [lost] = await Promise.all([
      fillLog(dataFolder),
      // Under way while the log fills up; whether it has a receipt is another matter.
      ...keys.slice(4).map(async (key) => {
        const id = await ask(first, key).catch(() => null);
        if (id !== null) receipts.set(key, id);
      }),
    ]);
    assert.match(lost, /No space left on device|Connection terminated|server closed the connection/);
    assert.equal(await first.exited, 1);
    // What PostgreSQL says itself may not have found room either.
    assert.match(log.at(-1) ?? '', /does not start.*the embedded database is lost/);

    await disk.free();
    const second = await startService(dataFolder);
    for (const key of keys) {
      const id = await ask(second, key);
      assert.equal(receipts.get(key) ?? id, id, 'a receipt has its job');
      await untilEnded(second, id);
    }
    assert.equal(await second.stop(), 0);

    const database = await attachEmbeddedPostgres(dataFolder);
    const left = [...(await findAftermath(database.url, dataFolder)), ...(await findDoubleCharges(database.url))];
    await database.release();
    assert.deepEqual(left, []);
  });
});

async function ask({ client }: ServiceProcess, idempotencyKey: string): Promise<string> {
  const question = {
    subject_id: 'anna',
    messages: [{ role: 'user' as const, content: 'Who founded it?' }],
    max_output_tokens: 8,
  };
  return (await client.inferences.create(question, { idempotencyKey })).id;
}

async function untilEnded({ client }: ServiceProcess, jobId: string): Promise<void> {
  for (;;) {
    const { status } = await client.jobs.get(jobId);
    if (status === 'succeeded') return;
    assert.ok(status === 'queued' || status === 'running', status);
    await sleep(50);
  }
}

/** Writes to the log of the database until that ends. Returns what it said last. */
async function fillLog(dataFolder: string): Promise<string> {
  const database = await attachEmbeddedPostgres(dataFolder);
  // The service uses the database, too, and alone from now on.
  await database.release();
  const client = new pg.Client({ connectionString: database.url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    for (;;) await client.query(`SELECT pg_logical_emit_message(false, 'test', repeat('x', 4000000))`);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await client.end().catch(() => undefined);
  }
}
