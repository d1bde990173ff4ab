import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { readServiceAddress, recordServiceAddress } from './serviceAddress.js';

test('a service removes what dead services left, and nothing of one that is about to say where it listens', async () => {
  const dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-address-'));
  const first = await recordServiceAddress(dataFolder, 'http://127.0.0.1:1');
  const folder = path.join(dataFolder, 'services');
  const [living = ''] = await readdir(folder);
  const dead = JSON.stringify({ url: 'http://127.0.0.1:2', started_at_ms: Date.now() + 1000 });
  for (const name of ['dead.json', 'old.new', 'young.new']) await writeFile(path.join(folder, name), dead);
  const anHourAgo = new Date(Date.now() - 3_600_000);
  await utimes(path.join(folder, 'old.new'), anHourAgo, anHourAgo);

  const second = await recordServiceAddress(dataFolder, 'http://127.0.0.1:3');
  const names = await readdir(folder);
  assert.deepEqual([names.length, names.includes(living), names.includes('young.new')], [3, true, true]);
  assert.equal(await readServiceAddress(dataFolder), 'http://127.0.0.1:3');
  await Promise.all([first.withdraw(), second.withdraw()]);
  assert.deepEqual(await readdir(folder), ['young.new']);
  await rm(dataFolder, { recursive: true });
});
