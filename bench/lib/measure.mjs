// Timing and reporting that the benches share.
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Runs every workload once per round, one after the other, so that a busy machine slows all of them alike.
 * Returns for each the best wall time and the best CPU time of a run, in seconds.
 * @param {Record<string, () => Promise<unknown>>} workloads
 * @param {number} rounds
 */
export async function measureInterleaved(workloads, rounds) {
  const best = Object.fromEntries(Object.keys(workloads).map((name) => [name, { wall: Infinity, cpu: Infinity }]));
  for (let round = -1; round < rounds; round += 1) {
    for (const [name, run] of Object.entries(workloads)) {
      const cpuBefore = process.cpuUsage();
      const before = performance.now();
      await run();
      const wall = (performance.now() - before) / 1e3;
      const { user, system } = process.cpuUsage(cpuBefore);
      if (round < 0) continue; // the first round only warms up
      best[name].wall = Math.min(best[name].wall, wall);
      best[name].cpu = Math.min(best[name].cpu, (user + system) / 1e6);
    }
  }
  return best;
}

/**
 * Runs peers in turn, A B A B, and keeps every sample: what a run returns as `{ wall_s, cpu_s }`, or else its wall time
 * and the CPU time of this process. The first round only warms up.
 * @param {Record<string, () => Promise<unknown>>} peers
 * @param {number} rounds
 * @returns {Promise<Record<string, { wall_s: number[], cpu_s: number[] }>>}
 */
export async function measureInTurn(peers, rounds) {
  const samples = Object.fromEntries(Object.keys(peers).map((name) => [name, { wall_s: [], cpu_s: [] }]));
  for (let round = -1; round < rounds; round += 1) {
    for (const [name, run] of Object.entries(peers)) {
      const cpuBefore = process.cpuUsage();
      const before = performance.now();
      const own = await run();
      const wallS = own?.wall_s ?? (performance.now() - before) / 1e3;
      const { user, system } = process.cpuUsage(cpuBefore);
      const cpuS = own?.cpu_s ?? (user + system) / 1e6;
      if (round < 0) continue;
      samples[name].wall_s.push(wallS);
      samples[name].cpu_s.push(cpuS);
    }
  }
  return samples;
}

/** The machine, without which a figure means nothing. */
export function machine() {
  return {
    date: new Date().toISOString(),
    node: process.version,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    loadAverage: loadavg()[0],
  };
}

/** Ratios keep their meaning on a busy machine; the other figures do not. */
export function withLoadNote(facts) {
  return facts.loadAverage > facts.cores / 2 ? { ...facts, note: 'other work kept the machine busy' } : facts;
}

/** Writes bench/results/NAME.json. */
export function writeResults(name, results) {
  mkdirSync(join(root, 'bench/results'), { recursive: true });
  writeFileSync(join(root, `bench/results/${name}.json`), `${JSON.stringify(results, null, 2)}\n`);
}

/** `--name value` out of the arguments. */
export function option(args, name, fallback) {
  const index = args.indexOf(`--${name}`);
  return index === -1 ? fallback : args[index + 1];
}

/** The value of an option that takes a whole number from 1 on. */
export function positive(args, name, fallback) {
  return wholeNumber(name, option(args, name, fallback));
}

/** A whole number from 1 on, as an option of that name gives it. */
export function wholeNumber(name, text) {
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`--${name}: ${text} is no whole number from 1 on`);
  return Number(text);
}
