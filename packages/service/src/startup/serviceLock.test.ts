import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { lockDataFolder } from './serviceLock.js';

test('a data folder has one service; a second is told which, and may come when it has ended', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'engraft-service-lock-'));
  t.after(() => rm(folder, { recursive: true }));
  const lock = await lockDataFolder(folder);
  const message = new RegExp(
    `^the data folder ${folder} belongs to a service .* \\(process ${process.pid} on .*--data`,
  );
  await assert.rejects(lockDataFolder(folder), { message });
  await lock.release();
  await (await lockDataFolder(folder)).release();
});
