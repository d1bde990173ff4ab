// Whether what the service asks of its database gets slower with the rows that are there: p95 of each statement beside
// a database in which there is next to nothing.
//
// npm run bench -- rows [--jobs 1000000] [--subjects 100000] [--projects 10000] [--rounds 300]
//
// Two databases of one server take turns, one call after the other. The small one has as many jobs and subjects as a
// page lists, so that both list a full one. DATABASE_URL names the server, whose user may make databases and roles;
// without it there is an embedded one. Writes bench/results/rows.json.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startDatabaseServer } from './lib/databaseServer.mjs';
import { loadRows } from './lib/rowsData.mjs';
import { machine, option, root, withLoadNote, writeResults } from './lib/measure.mjs';
import { quantile } from './lib/statistics.mjs';

// It is a dependency of the service.
const pg = createRequire(join(root, 'packages/service/package.json'))('pg');
const load = (path) => import(pathToFileURL(join(root, 'packages/service/dist', path)).href);

const smallSize = { jobs: 400, subjects: 120, projects: 20 };
/** The limit of p95 beside the small database. */
const target = 2;

export default async function bench(args) {
  const fullSize = {
    jobs: Number(option(args, 'jobs', '1000000')),
    subjects: Number(option(args, 'subjects', '100000')),
    projects: Number(option(args, 'projects', '10000')),
  };
  const rounds = Number(option(args, 'rounds', '300'));
  const server = await startServer();
  try {
    const sides = { small: await openSide(smallSize), full: await openSide(fullSize) };
    const results = { machine: withLoadNote(machine()), size: fullSize, small: smallSize, rounds, target };
    results.loading_s = sides.full.loadingS;
    results.database_bytes = await databaseBytes(sides.full);
    results.calls = await measure(sides, rounds);
    results.ledger_verify = await verify(sides.full);
    print(results);
    writeResults('rows', results);
    for (const side of Object.values(sides)) await side.database.close();
  } finally {
    await server.stop();
  }
}

function startServer() {
  if (!process.env.DATABASE_URL) return startDatabaseServer();
  process.env.ENGRAFT_TEST_DATABASE_URL = process.env.DATABASE_URL;
  return { stop: () => undefined };
}

async function openSide(size) {
  const { openTestDatabase } = await load('testing/testDatabase.js');
  const { createTestKey, createTestProject } = await load('testing/testApp.js');
  const { setProject } = await load('projects/setProject.js');
  const database = await openTestDatabase({ maxConnections: 4 });
  const key = await createTestKey(database.db, await createTestProject(database.db, 1e12));
  // So that admission reads what was spent this month.
  await setProject(database.db, key.project_id, { monthly_spending_limit_microusd: 1e12 });
  const client = new pg.Client(database.url);
  await client.connect();
  const before = performance.now();
  await loadRows(client, { ...size, benchProject: key.project_id, benchKey: key.id });
  const loadingS = (performance.now() - before) / 1e3;
  await client.end();
  return { database, key, loadingS, calls: await callsOf(database.db, key) };
}

/** Each is one call of the domain, as routes and workers make it. */
async function callsOf(db, key) {
  const { admitJob } = await load('admission/admitJob.js');
  const { readMonth } = await load('admission/monthlySums.js');
  const { claimJob } = await load('jobs/claimJob.js');
  const { failJob } = await load('jobs/failJob.js');
  const { listJobs } = await load('jobs/listJobs.js');
  const { listOperatorJobs } = await load('jobs/operatorJobs.js');
  const { listProjectJobs } = await load('console/projectJobs.js');
  const { readProjectCredits } = await load('console/projectCredits.js');
  const { listSubjects } = await load('subjects/listSubjects.js');
  const { deleteUnneededFiles } = await load('retention/deleteUnneededFiles.js');
  const { forgetRehearsals } = await load('retention/forgetEnded.js');
  const meter = { countTokens: async () => 20, contextLength: 1_000, db, execution: 'on' };
  const { project_id } = key;
  const namespace = { project_id, tenant_id: null };
  let [admitted, claimed] = [0, null];
  const { question: request } = await load('testing/admissionTest.js');
  const operation = { key, tenant_id: null, subject_id: null, adapter_version: undefined, endpoint: '/v1/inferences' };
  return {
    admission: async () => {
      const idempotencyKey = `rows-${(admitted += 1)}`;
      const outcome = await admitJob(
        { ...meter, open_jobs: { of_project: 999_999, of_service: 999_999 } },
        { ...operation, idempotency_key: idempotencyKey, request },
      );
      if (outcome.kind !== 'admitted') throw new Error(JSON.stringify(outcome));
    },
    claim: async () => {
      claimed = await claimJob(db, { worker_id: 'bench', kind: 'inference', leaseMs: 60_000 });
      if (claimed === null) throw new Error('nothing waits');
    },
    'end of a job': () => failJob(db, claimed, 'engine_failed'),
    'list of jobs': () => listJobs(db, namespace, { limit: 50 }),
    'list of jobs, console': () => listProjectJobs(db, project_id, {}),
    'list of learning, console': () => listProjectJobs(db, project_id, { kind: 'internalization' }),
    'list of failed jobs': () => listOperatorJobs(db, { project_id, statuses: ['failed'], limit: 50 }),
    'list of subjects': () => listSubjects(db, namespace),
    'list of entries': () => readProjectCredits(db, project_id, {}),
    'spent this month': () => readMonth(db, project_id),
    'files to delete': () => deleteUnneededFiles(db, null),
    'rehearsals to forget': () => forgetRehearsals(db),
  };
}

/** One call of each side after the other. The first tenth only warms up. */
async function measure({ small, full }, rounds) {
  const samples = Object.fromEntries(Object.keys(small.calls).map((name) => [name, { small: [], full: [] }]));
  for (let round = -Math.ceil(rounds / 10); round < rounds; round += 1) {
    for (const name of Object.keys(samples)) {
      for (const [side, { calls }] of Object.entries({ small, full })) {
        const before = performance.now();
        await calls[name]();
        if (round >= 0) samples[name][side].push(performance.now() - before);
      }
    }
  }
  return Object.fromEntries(
    Object.entries(samples).map(([name, times]) => {
      const of = (side, q) => quantile(times[side], q);
      const figures = (side) => ({ p50_ms: of(side, 0.5), p95_ms: of(side, 0.95) });
      const ratio = { p50: of('full', 0.5) / of('small', 0.5), p95: of('full', 0.95) / of('small', 0.95) };
      return [name, { small: figures('small'), full: figures('full'), ratio }];
    }),
  );
}

async function verify({ database }) {
  const { verifyLedger } = await load('ledger/verifyLedger.js');
  const before = performance.now();
  const { ok, transfers, differences } = await verifyLedger(database.db);
  return { seconds: (performance.now() - before) / 1e3, ok, transfers, differences: differences.slice(0, 5) };
}

async function databaseBytes({ database }) {
  const client = new pg.Client(database.url);
  await client.connect();
  const { rows } = await client.query(`SELECT relname AS name, pg_total_relation_size(oid)::float8 AS bytes
    FROM pg_class WHERE relkind = 'r' AND relname IN ('jobs', 'transfers', 'versions', 'subjects')`);
  await client.end();
  return Object.fromEntries(rows.map(({ name, bytes }) => [name, bytes]));
}

function print({ size, calls, ledger_verify, database_bytes }) {
  console.log(`${size.jobs} jobs, ${size.subjects} subjects, ${size.projects} projects; p95 beside next to nothing`);
  console.table(
    Object.fromEntries(
      Object.entries(calls).map(([name, { small, full, ratio }]) => [
        name,
        { 'small ms': small.p95_ms.toFixed(1), 'full ms': full.p95_ms.toFixed(1), ratio: ratio.p95.toFixed(2) },
      ]),
    ),
  );
  console.log('engraft ledger verify', ledger_verify, database_bytes);
}
