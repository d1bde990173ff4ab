import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { pino } from 'pino';
import { openFolderStore } from '../adapterStore/folderStore.js';
import { observeClock } from '../clock/observeClock.js';
import { shortenLeases } from '../jobs/shortenLeases.js';
import { resolveJob, type ResolveJobOutcome } from '../jobs/resolveJob.js';
import { revokeKey } from '../keys/revokeKey.js';
import { grantCredit } from '../ledger/grantCredit.js';
import { refundHosting, refundJob } from '../ledger/refund.js';
import { verifyLedger } from '../ledger/verifyLedger.js';
import { correctDeadlines } from '../retention/correctDeadlines.js';
import { deleteUnneededFiles } from '../retention/deleteUnneededFiles.js';
import { removeEndedWork } from '../retention/removeEndedWork.js';
import { renewHosting } from '../retention/renewHosting.js';
import { expireVersion } from '../versions/expireVersion.js';
import { findAftermath, findDoubleCharges } from './aftermath.js';
import { SimulatedWorker } from './simulatedWorker.js';
import { buildTestApp, call, createTestKey, createTestProject, type TestKey } from './testApp.js';
import { openTestClock, type TestClock } from './testClock.js';
import { openTestDatabase } from './testDatabase.js';
import { readWorldState } from './worldState.js';

export type SimulatedWorld = Awaited<ReturnType<typeof openSimulatedWorld>>;

/** All deciding parts of the service, on a database and a clock of its own. Time and death are simulated. */
export async function openSimulatedWorld() {
  const database = await openTestDatabase({ maxConnections: 2, durable: false });
  const clock = await openTestClock(database, { maxConnections: 6 });
  await takeDefaultsFrom(clock);
  const { db } = clock;
  const dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-simulation-'));
  const store = await openFolderStore(dataFolder);
  const { app } = buildTestApp(db, { logger: pino({ level: 'silent' }) });
  let workers = 0;
  return {
    readState: () => readWorldState(db),
    /** JSON over HTTP, in memory. */
    call: async (method: 'GET' | 'POST', url: string, key: TestKey, body?: object, headers = {}) => {
      const response = await call(app, method, url, { key, headers, ...(body === undefined ? {} : { body }) });
      return { status: response.statusCode, body: response.json<unknown>() };
    },
    newProject: (creditMicrousd: number) => createTestProject(db, creditMicrousd),
    newKey: (projectId: string, tenantId: string | null) => createTestKey(db, projectId, { tenant_id: tenantId }),
    newWorker: () => new SimulatedWorker(`worker-${(workers += 1)}`, clock.url, store, dataFolder),
    grant: (projectId: string, amountMicrousd: number) =>
      grantCredit(db, { project_id: projectId, amount_microusd: amountMicrousd, memo: 'simulation' }),
    revoke: (keyId: string) => revokeKey(db, keyId),
    refund: (jobId: string, amountMicrousd: number) =>
      refundJob(db, { job_id: jobId, amount_microusd: amountMicrousd, memo: 'simulation' }),
    /** All days that the project was charged, and not refunded before. */
    refundHosting: (projectId: string) =>
      refundHosting(db, { project_id: projectId, charged_since: new Date(0), memo: 'simulation' }),
    expire: (versionId: string) => expireVersion(db, versionId),
    resolve: (jobId: string, chargedMicrousd: number): Promise<ResolveJobOutcome> =>
      resolveJob(db, jobId, chargedMicrousd),
    /** Sets the clock this far ahead, and lets somebody look at it. */
    setClock: async (aheadSeconds: number) => {
      await clock.set(`${aheadSeconds} seconds`);
      await observeClock(db);
      await shortenLeases(db);
    },
    /** Runs a round of retention. */
    retain: async () => {
      await correctDeadlines(db);
      await renewHosting(db);
      await deleteUnneededFiles(db, store);
      await removeEndedWork(db, dataFolder);
    },
    /** Cuts all connections of the database. */
    cut: async () => {
      await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`.execute(database.owner);
    },
    verifyLedger: async () => (await verifyLedger(db)).differences,
    findAftermath: () => findAftermath(clock.url, dataFolder),
    findDoubleCharges: () => findDoubleCharges(clock.url),
    close: async () => {
      await app.close();
      await clock.close();
      await database.close();
      await rm(dataFolder, { recursive: true });
    },
  };
}

/** Columns also take the time of the test's clock if a statement names none. */
async function takeDefaultsFrom({ db }: TestClock): Promise<void> {
  const { rows } = await sql<{ change: string }>`
    select format('alter table %I alter column %I set default test_clock.now()', table_name, column_name) as change
    from information_schema.columns where table_schema = 'public' and column_default = 'now()'`.execute(db);
  for (const { change } of rows) await sql.raw(change).execute(db);
}
