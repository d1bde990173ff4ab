// `engraft serve` with the shipped model, on a data folder of its own.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './measure.mjs';
import { cpuSeconds, memoryBytes } from './processFigures.mjs';

const program = join(root, 'packages/service/bin/engraft.js');

/** @param {Record<string, string>} settings variables of its environment */
export async function startShippedService(settings = {}) {
  const dataFolder = mkdtempSync(join(tmpdir(), 'engraft-bench-'));
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, ENGRAFT_DATA_DIR: dataFolder, ENGRAFT_LOG_LEVEL: 'error', ...settings };
  const child = spawn(process.execPath, [program, 'serve', '--port', '0'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(() => {
      throw new Error('the service ended before it was ready');
    }),
  ]);
  const noLimit = ['project', 'set', 'default', 'requests_per_minute=600000'];
  const { status } = spawnSync(process.execPath, [program, ...noLimit], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) throw new Error('the limit of requests per minute could not be lifted');
  return {
    dataFolder,
    url: addressIn(line),
    authorization: `Bearer ${readFileSync(join(dataFolder, 'default-key'), 'utf8').trim()}`,
    /** Bytes of memory in use by the service, its engines and its database; `null` where there is no /proc. */
    memory: () => memoryOfAll(child.pid, dataFolder),
    /** Seconds of processor time of each, so far; `null` where there is no /proc. */
    processorTime: () => processorTimeOfAll(child.pid, dataFolder),
    stop: async () => {
      if (child.exitCode === null) {
        child.kill('SIGTERM');
        await once(child, 'exit');
      }
      rmSync(dataFolder, { recursive: true, force: true });
    },
  };
}

/** Where the service listens, by the first line that it prints. The link to its console may come with it. */
export function addressIn(printed) {
  const url = /^engraft listening on (\S+)/.exec(String(printed))?.[1];
  if (url === undefined) throw new Error(`the service said: ${printed}`);
  return url;
}

function memoryOfAll(pid, dataFolder) {
  const service = memoryBytes(pid)?.resident ?? null;
  if (service === null) return null;
  const [engine, ...training] = enginesOf(pid);
  return {
    service,
    // The oldest answers; any other trains for a while.
    engine: residentOf(engine),
    training: sum(training.map(residentOf)),
    // Shared pages are counted once for all, private ones for each.
    database: sum(databaseOf(dataFolder).map(proportional)),
  };
}

function processorTimeOfAll(pid, dataFolder) {
  const service = cpuSeconds(pid);
  if (Number.isNaN(service)) return null;
  const ofAll = (pids) => sum(pids.map((each) => cpuSeconds(each) || 0));
  return { service, engine: ofAll(enginesOf(pid)), database: ofAll(databaseOf(dataFolder)) };
}

/** The oldest first. */
function enginesOf(pid) {
  return childrenOf(pid)
    .filter((each) => commandOf(each).includes('process/child.js'))
    .sort((a, b) => a - b);
}

function databaseOf(dataFolder) {
  const [postmaster] = readFileSync(join(dataFolder, 'postgres/cluster/postmaster.pid'), 'utf8').split('\n');
  return [Number(postmaster), ...childrenOf(Number(postmaster))];
}

const residentOf = (pid) => memoryBytes(pid)?.resident ?? 0;
const sum = (values) => values.reduce((all, value) => all + value, 0);

function childrenOf(pid) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
    .map(Number);
}

function parentOf(pid) {
  return Number(/^PPid:\s+(\d+)$/m.exec(readOrEmpty(`/proc/${pid}/status`))?.[1] ?? NaN);
}

function commandOf(pid) {
  return readOrEmpty(`/proc/${pid}/cmdline`);
}

function proportional(pid) {
  const kilobytes = /^Pss:\s+(\d+) kB$/m.exec(readOrEmpty(`/proc/${pid}/smaps_rollup`))?.[1];
  return kilobytes === undefined ? 0 : 1024 * Number(kilobytes);
}

function readOrEmpty(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
