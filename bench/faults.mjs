// What faults do: how many jobs they lose, how much they charge twice, what callers see of each other, and how long the
// service is away.
//
// npm run bench -- faults [--only crashes,kills,simulation,isolation] [--minutes N] [--seed N] [--path P] [--kills 10]
//
// Parts: `crashes` kills the service (with a scripted model) at each of its named crash points; `kills` kills and hangs
// processes of a service with the shipped model at random moments, under load; `simulation` plays random histories of
// clients, operators, workers, deaths and jumps of the clock; `isolation` lets callers ask for what is others'. With
// `--minutes` each part goes on for so long. A failure prints the seed (and path) that repeats it.
// Writes bench/results/faults.json; with --only it renews those parts and leaves the others.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crashEverywhere } from './faults/crashes.mjs';
import { probeOthers } from './faults/isolation.mjs';
import { killAtRandom } from './faults/kills.mjs';
import { print, total } from './faults/report.mjs';
import { playHistories } from './faults/simulation.mjs';
import { startDatabaseServer } from './lib/databaseServer.mjs';
import { machine, option, root, withLoadNote, writeResults } from './lib/measure.mjs';

const allParts = { crashes: crashEverywhere, kills: killAtRandom, simulation: playHistories, isolation: probeOthers };

export default async function bench(args) {
  const names = option(args, 'only', Object.keys(allParts).join()).split(',');
  const unknown = names.filter((name) => !(name in allParts));
  if (unknown.length > 0)
    throw new Error(`there is no part ${unknown.join()}; there are ${Object.keys(allParts).join()}`);
  const minutes = option(args, 'minutes', null);
  const options = {
    seed: Number(option(args, 'seed', String(Date.now() % 2 ** 31))),
    path: option(args, 'path', undefined),
    minutes: minutes === null ? undefined : Number(minutes),
    kills: Number(option(args, 'kills', '10')),
  };
  let results;
  console.log(`seed ${options.seed}`);
  const server = await startServerFor(names);
  for (const name of names) {
    const facts = { machine: withLoadNote(machine()), ...options };
    const beganMs = performance.now();
    const part = await allParts[name](options);
    // Read only now: another run may have renewed another part.
    results = earlierResults();
    results.parts[name] = { ...facts, seconds: (performance.now() - beganMs) / 1e3, ...part };
    console.log(`${name}: ${part.faults} faults, ${part.failures.length} failures`);
    results.total = total(Object.values(results.parts));
    writeResults('faults', results);
  }
  await server.stop();
  print(results);
  if (results.total.failures > 0) process.exitCode = 1;
}

function earlierResults() {
  const file = join(root, 'bench/results/faults.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { parts: {} };
}

/**
 * Where `simulation` and `isolation` make their databases, as tests do: a server for each history would take longer.
 */
function startServerFor(names) {
  const isNeeded = names.includes('simulation') || names.includes('isolation');
  if (!isNeeded || process.env.ENGRAFT_TEST_DATABASE_URL) return { stop: () => undefined };
  return startDatabaseServer();
}
