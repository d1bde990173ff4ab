import assert from 'node:assert/strict';
import { access } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { crashPoints } from '@engraft/service/testing/crashOrder.js';
import { startStubBucket, type StubBucket } from '@engraft/service/testing/stubBucket.js';
import { bucketCrashes, crashAndRecover, crashes } from './crashAndRecover.js';
import { crashFirstStart } from './crashFirstStart.js';
import { CrashTest, noFaults } from './crashTest.js';
import { leavingHere, project } from './driveKinds.js';

/** The real service but for the model, killed with SIGKILL at every boundary between two durable effects. */
describe('a service that dies', () => {
  let test: CrashTest;
  before(async () => {
    test = await CrashTest.open();
  });
  after(() => test.release());

  it('at any point of its first start has made a whole installation in the end', async () => {
    const { subjects, projects, files, default_key } = await crashFirstStart(test);
    assert.equal(subjects, 0, 'the key in the data folder opens it');
    assert.deepEqual(projects, [{ name: 'default', keys: 1, granted_microusd: 100_000_000 }]);
    assert.deepEqual(files, ['adapters', 'default-key', 'services'], 'nothing passing is left behind');
    assert.match(default_key, /^\S+\n$/);
  });

  for (const crash of crashes) {
    const { crash_point, passing } = crash.order;
    const nth = crash.drive.passings === undefined ? '' : `, passing ${passing}`;
    it(`after ${crash_point}: ${crashPoints[crash_point]}${nth}`, async () => {
      assert.deepEqual((await crashAndRecover(test, crash)).faults, noFaults);
    });
  }

  it('in an import, with its adapter in the store, leaves nothing of it', async () => {
    const { service } = test;
    if (!service.is_running) await service.start();
    const { file, folder } = await leavingHere(test);
    const args = ['import', 'subject', file, ...project];
    assert.equal((await service.command(args, { crash_point: 'copy.named', passing: 1 })).signal, 'SIGKILL');
    await access(folder);
    await test.ageRemnants();
    await service.kill();
    await service.start();
    await test.untilGone(folder);
    await test.catchUp();
    assert.deepEqual(await test.findFaults(), noFaults);
    const { printed } = await service.command(args);
    assert.equal((printed as { versions: unknown[] }).versions.length, 1);
    await access(folder);
  });
});

describe('a service that dies and whose adapters are in a bucket', () => {
  let bucket: StubBucket;
  let test: CrashTest;
  before(async () => {
    bucket = await startStubBucket();
    test = await CrashTest.open(undefined, bucket);
  });
  after(async () => {
    await test.release();
    await bucket.stop();
  });

  for (const crash of bucketCrashes) {
    const { crash_point, passing } = crash.order;
    it(`after ${crash_point}: ${crashPoints[crash_point]}, passing ${passing}`, async () => {
      assert.deepEqual((await crashAndRecover(test, crash)).faults, noFaults);
    });
  }
});
