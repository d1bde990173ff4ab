// What more processes on one PostgreSQL bring, and what killing them does.
//
// npm run bench -- scale [--only api,worker,faults] [--processes 1,2,4] [--seconds 10] [--rounds 3] [--connections 16]
//   [--passages 4] [--fault-rounds 2]
//
// `api`: so many `engraft api` processes share the connections; a job is read, and jobs are admitted that nobody works
// on. `worker`: so many `engraft worker` processes with the shipped model, eight clients for each, then `--passages`
// passages that are learned at once. `faults`: of two and two each is killed in turn, and the database, while clients
// ask and learn; nothing may be lost or charged twice.
// All of them share this machine's cores, so the curves rise no further than these allow. Writes
// bench/results/scale.json and scale-*.svg; with --only it renews those parts and leaves the others.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { linePlot } from './lib/linePlot.mjs';
import { machine, option, root, withLoadNote, writeResults } from './lib/measure.mjs';
import { measureApis, measureWorkers } from './scale/curves.mjs';
import { openFleet } from './scale/fleet.mjs';
import { killEach } from './scale/faults.mjs';

const parts = { api: measureApis, worker: measureWorkers, faults: (fleet, plan) => killEach(fleet, plan.faults) };

export default async function bench(args) {
  const names = option(args, 'only', Object.keys(parts).join()).split(',');
  const unknown = names.filter((name) => !(name in parts));
  if (unknown.length > 0) throw new Error(`there is no part ${unknown.join()}; there are ${Object.keys(parts).join()}`);
  const plan = {
    counts: option(args, 'processes', '1,2,4').split(',').map(Number),
    seconds: Number(option(args, 'seconds', '10')),
    rounds: Number(option(args, 'rounds', '3')),
    connections: Number(option(args, 'connections', '16')),
    passages: Number(option(args, 'passages', '4')),
    faults: { rounds: Number(option(args, 'fault-rounds', '2')) },
  };
  const file = join(root, 'bench/results/scale.json');
  const results = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  for (const name of names) {
    const at = withLoadNote(machine());
    const fleet = await openFleet();
    let figures;
    try {
      figures = await parts[name](fleet, plan);
    } finally {
      await fleet.close();
    }
    results[name] = { machine: at, ...settingsOf(name, plan), figures };
    print(name, figures);
    writeResults('scale', results);
    if (name in plots) writeFileSync(join(root, `bench/results/scale-${name}.svg`), plots[name](results[name]));
  }
  if ((results.faults?.figures.failures.length ?? 0) > 0) process.exitCode = 1;
}

function settingsOf(name, { seconds, rounds, connections, faults }) {
  if (name === 'api') return { seconds, rounds, connections };
  return name === 'worker' ? { seconds } : faults;
}

function print(name, figures) {
  if (name !== 'faults') return console.table(figures.map(rounded));
  const { faults, jobs, lost_jobs, double_charges, recoveries_s, failures } = figures;
  console.table([{ faults, jobs, lost_jobs, double_charges, longest_recovery_s: Math.max(0, ...recoveries_s) }]);
  for (const { what, repeat } of failures) console.error(`FAILED: ${what}\n  again: ${repeat}`);
}

function rounded(row) {
  const entries = Object.entries(row);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'number' ? Number(value.toPrecision(3)) : value]),
  );
}

const plots = {
  api: ({ machine: at, figures }) =>
    linePlot({
      title: 'Requests a second by the number of API processes',
      note: noteOf(at),
      x: 'processes',
      lines: [...new Set(figures.map(({ workload }) => workload))].map((workload) => ({
        name: workload,
        points: figures
          .filter((row) => row.workload === workload)
          .map(({ processes, requestsPerSecond }) => ({ x: processes, y: requestsPerSecond })),
      })),
    }),
  worker: ({ machine: at, figures }) =>
    linePlot({
      title: 'Answers a second, and passages an hour, by the number of workers',
      note: noteOf(at),
      x: 'processes',
      lines: [
        { name: 'answers a second', points: figures.map((row) => ({ x: row.processes, y: row.answersPerSecond })) },
        {
          name: 'passages an hour',
          points: figures.map((row) => ({ x: row.processes, y: (3600 * row.passages) / row.learning_s })),
        },
      ],
    }),
};

const noteOf = ({ cpu, cores, loadAverage }) =>
  `${cpu}, ${cores} cores for all of them, load average at the start ${loadAverage.toFixed(1)}`;
