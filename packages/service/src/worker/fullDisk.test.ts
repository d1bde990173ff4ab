import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { learningResult } from '@engraft/contract';
import { verifyLedger } from '../ledger/verifyLedger.js';
import { mountSmallDisk, noSmallDisk, type SmallDisk } from '../testing/smallDisk.js';
import { openTestWorker, testPassage, testQuestion, type TestWorker } from '../testing/testWorker.js';

/** On a real disk that is really full. */
describe('a disk that is full while a passage is learned', () => {
  let disk: SmallDisk | null;
  let service: TestWorker | undefined;
  before(async () => {
    disk = await mountSmallDisk(32 * 2 ** 20);
    if (disk !== null) service = await openTestWorker(disk.folder);
  });
  after(async () => {
    await service?.stop();
    await disk?.remove();
  });

  it('makes learning wait, while answers go on, and the job is done once there is room', async (t: TestContext) => {
    if (disk === null || service === undefined) {
      t.skip(noSmallDisk);
      return;
    }
    const { db, dataFolder } = service;
    const { admit, read, until, metric, log } = service;
    service.start({ storageWait: { firstMs: 4_000, longestMs: 8_000 } });
    await disk.fill(100_000);
    const learningId = await admit('berta', testPassage);

    await until(() => Promise.resolve(log().includes('a disk is full: learning waits') || null));
    const waiting = await read(learningId);
    assert.deepEqual(
      [waiting.status, waiting.settled, waiting.charged_microusd, waiting.attempts, waiting.training_tokens],
      ['queued', false, 0, 0, 0],
    );
    assert.deepEqual(await readdir(path.join(dataFolder, 'work', learningId)), [], 'nothing half-written is left');
    assert.equal(await metric('engraft_learning_paused'), 1);
    const answerId = await admit('anna', testQuestion);
    const answer = await until(async () => ((await read(answerId)).settled ? read(answerId) : null));
    assert.equal(answer.status, 'succeeded');
    assert.equal((await read(learningId)).status, 'queued', 'it does not spin');

    await disk.free();
    const job = await until(async () => ((await read(learningId)).settled ? read(learningId) : null));
    assert.deepEqual([job.status, job.error_code], ['ready', null]);
    const result = learningResult.parse(job.result);
    assert.ok(result.activated);
    // Repeated work is in neither usage nor charge.
    const phases = await db.selectFrom('job_phases').selectAll().where('job_id', '=', learningId).execute();
    const trained = phases.reduce((sum, { training_tokens }) => sum + training_tokens, 0);
    assert.deepEqual([job.training_tokens, result.training.tokens], [trained, trained]);
    await until(async () => ((await metric('engraft_learning_paused')) === 0 ? true : null));
    assert.deepEqual((await verifyLedger(db)).differences, []);
  });
});
