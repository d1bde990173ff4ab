import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { partialName, removeLeftovers } from './partial.js';
import { temporaryFolder } from '../testing/fixtures.js';

const yesterday = new Date(Date.now() - 24 * 60 * 60_000);
const nameThem = `
  import { partialName } from ${JSON.stringify(new URL('./partial.js', import.meta.url).href)};
  console.log(partialName('weights'));`;
const nodeOptions = ['--input-type=module', '-e'];

/** A temporary name made by a process that has ended. */
function nameOfDead(): string {
  return execFileSync(process.execPath, [...nodeOptions, nameThem], { encoding: 'utf8' }).trim();
}

/** Replaces parts of the mark in a name: where its process ran, its id, its start time. */
function remarked(name: string, [space, pid, start]: readonly (string | undefined)[]): string {
  const [stem = '', mark = ''] = name.split('.partial-');
  const [ownSpace, ownPid, ownStart, random] = mark.split('-');
  return `${stem}.partial-${[space ?? ownSpace, pid ?? ownPid, start ?? ownStart, random].join('-')}`;
}

async function leftAfterwards(folder: string, names: readonly string[], old: boolean): Promise<readonly string[]> {
  for (const name of names) {
    await mkdir(path.join(folder, name), { recursive: true });
    await writeFile(path.join(folder, name, 'bytes'), 'x');
    if (old) await utimes(path.join(folder, name), yesterday, yesterday);
  }
  await removeLeftovers(folder, 'weights');
  const left = await readdir(folder);
  return names.filter((name) => left.includes(name));
}

void test('what a process that has ended was writing is removed at once, what others write stays', async (t) => {
  const folder = await temporaryFolder(t);
  const living = spawn(process.execPath, [...nodeOptions, `${nameThem} setInterval(() => undefined, 1000);`]);
  t.after(() => living.kill('SIGKILL'));
  const [output] = (await once(living.stdout, 'data')) as [Buffer];
  const written = output.toString().trim();
  const dead = nameOfDead();
  const others = dead.replace('weights', 'others');
  assert.deepEqual(await leftAfterwards(folder, [dead, others, written, partialName('weights')], false), [
    others,
    written,
    ...(await readdir(folder)).filter((name) => name.includes(`-${process.pid}-`)),
  ]);
  living.kill('SIGKILL');
  await once(living, 'exit');
  assert.deepEqual(await leftAfterwards(folder, [written], false), []);
});

void test('who lives is not known of other machines and containers, nor of earlier versions: there an hour passes', async (t) => {
  const folder = await temporaryFolder(t);
  const dead = nameOfDead();
  // Ids that no process can have, and ids of processes that may not be ours.
  const pids = [undefined, '0', '1', '9999999999'];
  const names = [...pids.map((pid) => remarked(dead, ['0123456789ab', pid])), 'weights.partial-0123456789ab'];
  names.push(remarked(dead, [undefined, '0']), remarked(dead, [undefined, '9999999999']));
  assert.deepEqual(await leftAfterwards(folder, names, false), names);
  assert.deepEqual(await leftAfterwards(folder, names, true), []);
});

void test(
  'a process that has the id of another that has ended is not taken for it',
  { skip: process.platform !== 'linux' && 'only Linux tells when a process began' },
  async (t) => {
    const folder = await temporaryFolder(t);
    const own = partialName('weights');
    assert.deepEqual(await leftAfterwards(folder, [remarked(own, [undefined, undefined, '1'])], false), []);
    assert.deepEqual(await leftAfterwards(folder, [own], true), [own], 'it lives, and may take its time');
  },
);
