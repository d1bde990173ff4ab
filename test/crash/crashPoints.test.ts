import assert from 'node:assert/strict';
import { access, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { CrashOrder, CrashPoint } from '@engraft/service/testing/crashOrder.js';
import { crashPoints } from '@engraft/service/testing/crashOrder.js';
import pg from 'pg';
import { CrashTest } from './crashTest.js';
import { type Drive, leavingHere, project } from './driveKinds.js';
import { drives } from './drives.js';

const entries = Object.entries(drives) as [CrashPoint, Drive][];
const of = (name: CrashPoint): string => `after ${name}: ${crashPoints[name]}`;

/** The real service but for the model, killed with SIGKILL at every boundary between two durable effects. */
describe('a service that dies', () => {
  let test: CrashTest;
  before(async () => {
    test = await CrashTest.open();
  });
  after(() => test.release());

  it('at any point of its first start has made a whole installation in the end', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'engraft-first-'));
    const data_folder = path.join(folder, 'data');
    const database_url = await makeDatabase(test);
    const environment = { ENGRAFT_DATA_DIR: data_folder, DATABASE_URL: database_url };
    for (const [crash_point, { by }] of entries) {
      if (by !== 'first start') continue;
      assert.equal(await test.service.start({ crash_point, passing: 1 }, environment), 'died', of(crash_point));
    }
    assert.equal(await test.service.start(undefined, environment), 'listening');
    assert.deepEqual((await test.service.client.subjects.list()).data, [], 'the key in the data folder opens it');
    await test.service.kill();
    const database = new pg.Client(database_url);
    await database.connect();
    const { rows } = await database.query(
      `SELECT name, (SELECT count(*)::int FROM api_keys) AS keys,
         (SELECT sum(amount_microusd)::int FROM transfers WHERE kind = 'grant') AS granted_microusd FROM projects`,
    );
    await database.end();
    assert.deepEqual(rows, [{ name: 'default', keys: 1, granted_microusd: 100_000_000 }]);
    const names = (await readdir(data_folder)).sort();
    assert.deepEqual(names, ['adapters', 'default-key', 'services'], 'nothing passing is left behind');
    assert.match(await readFile(path.join(data_folder, 'default-key'), 'utf8'), /^\S+\n$/);
    await rm(folder, { recursive: true });
  });

  for (const [crash_point, drive] of entries) {
    if (drive.by === 'first start') continue;
    for (const passing of drive.passings ?? [1]) {
      const nth = drive.passings === undefined ? '' : `, passing ${passing}`;
      it(`${of(crash_point)}${nth}`, () => crashAndRecover(test, { crash_point, passing }, drive));
    }
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
    assert.deepEqual(await test.findFaults(), []);
    const { printed } = await service.command(args);
    assert.equal((printed as { versions: unknown[] }).versions.length, 1);
    await access(folder);
  });
});

async function crashAndRecover(test: CrashTest, order: CrashOrder, drive: Drive): Promise<void> {
  const { service } = test;
  if (!service.is_running) await service.start();
  try {
    await drive.prepare?.(test);
    await crash(test, order, drive);
  } finally {
    await drive.repair?.(test);
  }
  await test.ageRemnants();
  if (!service.is_running) assert.equal(await service.start(), 'listening');
  assert.deepEqual(await test.findFaults(), []);
}

async function crash(test: CrashTest, order: CrashOrder, drive: Drive): Promise<void> {
  const { service } = test;
  switch (drive.by) {
    case 'start':
      await service.kill();
      // Jobs that it goes on with may come to the point when it listens already.
      if ((await service.start(order)) === 'listening') await service.died();
      break;
    case 'work':
      await service.arm(order);
      await drive.act(test);
      await service.died();
      break;
    case 'command': {
      const { signal } = await service.command(await drive.args(test), order);
      assert.equal(signal, 'SIGKILL', 'the command did not come to the crash point');
      break;
    }
    case 'first start':
      throw new Error('a first start is tested by itself');
  }
}

/** Makes a database whose owner may make roles, as at a provider. Returns the owner's URL. */
async function makeDatabase({ database, database_url }: CrashTest): Promise<string> {
  await database.query(`CREATE ROLE tenant LOGIN CREATEROLE PASSWORD 'secret'`);
  await database.query('CREATE DATABASE tenant OWNER tenant');
  const url = new URL(database_url);
  [url.username, url.password, url.pathname] = ['tenant', 'secret', '/tenant'];
  return url.href;
}
