import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { AdapterStore } from '../adapterStore/adapterStore.js';
import { findAdapterStore } from '../adapterStore/findAdapterStore.js';
import { createStoreMetrics } from '../adapterStore/storeMetrics.js';
import { watchClock } from '../clock/watchClock.js';
import { type Config, usableTracing } from '../config/config.js';
import type { Database } from '../db/schema.js';
import { examine } from '../doctor/examine.js';
import { isDatabaseReachable } from '../db/isDatabaseReachable.js';
import { buildApp, buildOperationsApp } from '../http/buildApp.js';
import type { Payments } from '../payments/payments.js';
import { startRetention } from '../retention/startRetention.js';
import { openConfiguredTracing } from '../tracing/openConfiguredTracing.js';
import type { Tracing } from '../tracing/tracing.js';
import { adoptBaseModel } from '../worker/adoptBaseModel.js';
import { freeOrphanedJobs } from '../jobs/freeOrphanedJobs.js';
import { startWorker, type Worker } from '../worker/worker.js';
import { createWorkerMetrics } from '../worker/workerMetrics.js';
import { boundStop } from './boundedStop.js';
import { makeDataFolder } from './dataFolder.js';
import { prepareFirstStart } from './firstStart.js';
import { type Installation, openInstallation } from './installation.js';
import { examinedOf, modelInUseOf } from './lookInside.js';
import { openLog } from './logger.js';
import { isWrittenSoon, type LogOutput } from './logOutput.js';
import { admissionOf, loadModel, missingOf, type ModelState } from './modelState.js';
import { tellFit } from './tellFit.js';
import { recordServiceAddress } from './serviceAddress.js';
import { lockDataFolder } from './serviceLock.js';
import { openMetrics } from './serviceMetrics.js';
import { type Running, type RunningWorker, stopParts } from './stopParts.js';
import { untilToldToStop } from './untilToldToStop.js';

/** The parts of the service that this process runs. */
export interface Roles {
  readonly api: boolean;
  readonly worker: boolean;
}

/** The flags and variables that choose an address. */
const addressSettings = {
  api: '--host, --port, ENGRAFT_HOST, ENGRAFT_PORT',
  operations: 'ENGRAFT_OPERATIONS_HOST, ENGRAFT_OPERATIONS_PORT',
} as const;

/** Running inferences may finish within this time. Container runtimes kill 10 s after asking. */
const drainGraceMs = 6_000;
/** The whole stop takes no longer, whatever hangs. */
const maxStopMs = 25_000;
const maxConnections = 24;
/** A vLLM server decodes far more together than the embedded engine. */
const answersPerServer = 32;
/** A query or transaction of the service takes this long only if the database is gone without a word. */
const maxHeldMs = 20_000;

/**
 * Runs until it is told to stop, then drains: "no new work, running work is finished or handed back". Rejects if the
 * service cannot start. `onListening` is called, and awaited, when it is ready to serve. A fault injector may replace
 * the model.
 */
export async function runService(
  config: Config,
  roles: Roles,
  onListening: (url: string, db: Kysely<Database>) => unknown,
  load: typeof loadModel = loadModel,
): Promise<void> {
  const tracingConfig = usableTracing(config);
  const wish = untilToldToStop();
  const { logger, output } = openLog(config);
  const stopping = boundStop(maxStopMs, logger);
  void wish.told.then(() => stopping.begin());
  process.on('warning', (warning) => logger.warn({ err: warning }, 'a warning of Node.js'));
  // Also needed with a database elsewhere, since adapters and the first key are there.
  await makeDataFolder(config.dataFolder);
  const running: Running = {};
  try {
    const beginning = { config, roles, onListening, load, logger, output, tracing: tracingConfig };
    await start(beginning, running, () => wish.throwIfTold());
    logger.info({ signal: await wish.told }, 'draining');
  } catch (error) {
    // What breaks off because of the wish is no fault: Ctrl-C also reaches the processes that are being started.
    if (!wish.isTold()) throw error;
    logger.info({ signal: await wish.told, err: error }, 'told to stop while starting');
  } finally {
    stopping.begin();
    await stopParts(running, stopping);
  }
  logger.info('stopped');
}

interface Beginning {
  readonly config: Config;
  readonly roles: Roles;
  readonly onListening: (url: string, db: Kysely<Database>) => unknown;
  readonly load: typeof loadModel;
  readonly logger: Logger;
  readonly output: LogOutput;
  readonly tracing: ReturnType<typeof usableTracing>;
}

/** Notes each part in `running` once it has started, and goes no further once the service is told to stop. */
async function start(beginning: Beginning, running: Running, throwIfTold: () => void): Promise<void> {
  const { config, roles, onListening, load, logger, output } = beginning;
  const onLost = (error: Error): void => {
    logger.fatal({ err: error }, 'the embedded database is lost');
    void isWrittenSoon(process.stderr).then(() => process.exit(1));
  };
  // Several services may share a database elsewhere.
  if (config.databaseUrl === null) running.lock = await lockDataFolder(config.dataFolder);
  const installation = await openInstallation(config, { maxConnections, maxHeldMs, onLost });
  running.installation = installation;
  throwIfTold();
  if (installation.unrestrictedBecause !== null) {
    const reason = installation.unrestrictedBecause;
    logger.warn(
      { reason },
      'the service works with the rights of the owner of its tables: see "Roles of the database" in docs/operating',
    );
  }
  const isFirst = roles.api && (await prepareFirstStart(installation.db, config.dataFolder));
  const model = await load(config, roles.worker, logger);
  running.model = model;
  throwIfTold();
  if (model.kind === 'missing') {
    if (!roles.api) throw new Error(model.reason);
    logger.error({ reason: model.reason }, 'no model can be loaded: requests for model work are refused');
  }
  running.tracing = await openConfiguredTracing(beginning.tracing, logger);
  const metrics = openMetrics(installation, model, output);
  const parts = { config, roles, installation, model, logger, metrics, tracing: running.tracing };
  running.clock = await watchClock({ db: installation.db, logger, metrics });
  if (roles.worker) {
    const { dataFolder, jobRetentionDays, archive } = config;
    const store = await findAdapterStore(installation.db, config, { logger, metrics: createStoreMetrics(metrics) });
    running.store = store;
    await adoptModelOf(parts, store);
    const kept = { jobRetentionDays, archive };
    running.retention = startRetention({ db: installation.db, store, dataFolder, logger, ...kept });
    running.worker = await openWorker(parts, store);
  }
  if (roles.api) running.app = await openApi(parts, running.worker ?? null);
  throwIfTold();
  const url = running.app === undefined ? null : await listen(running.app, config, addressSettings.api);
  if (config.operations !== null) {
    running.operations = openOperations(parts);
    const operationsUrl = await listen(running.operations, config.operations, addressSettings.operations);
    logger.info({ url: operationsUrl }, 'health and metrics have an address of their own');
  }
  if (url !== null) {
    running.address = await recordServiceAddress(config.dataFolder, url);
    await onListening(url, installation.db);
  }
  logger.info({ pid: process.pid, ...roles }, 'started');
  if (isFirst && model.kind === 'loaded' && model.engine !== null) void tellFit(config, model.engine, logger);
}

interface Parts {
  readonly config: Config;
  readonly roles: Roles;
  readonly installation: Installation;
  readonly model: ModelState;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly tracing: Tracing;
}

/** Runs before a round of retention, a job or a request meets a version of another checkpoint. */
async function adoptModelOf({ installation: { db }, model, logger }: Parts, store: AdapterStore): Promise<void> {
  if (model.kind !== 'loaded' || model.engine === null) return;
  const { contentHash } = await model.engine.engine.describe();
  await adoptBaseModel({ db, store, content_hash: contentHash, logger });
}

async function openWorker(
  { config, installation, model, logger, metrics, tracing }: Parts,
  store: AdapterStore,
): Promise<RunningWorker | null> {
  // Without an engine, jobs stay queued.
  if (model.kind !== 'loaded' || model.engine === null) return null;
  const { db } = installation;
  const { dataFolder } = config;
  if (config.databaseUrl === null) {
    const freedJobs = await freeOrphanedJobs(db);
    if (freedJobs > 0) logger.info({ freed_jobs: freedJobs }, 'jobs of a worker that died are taken over');
  }
  const { engine, method } = model.engine;
  const worker = startWorker({
    db,
    engine,
    method,
    store,
    dataFolder,
    logger,
    metrics: createWorkerMetrics(metrics),
    tracing,
    engineRunning: () => engine.responsive,
    ...(config.vllm === null ? {} : { concurrentAnswers: answersPerServer * config.vllm.urls.length }),
    ...(config.trainerUrls === null ? {} : { concurrentLearning: config.trainerUrls.length }),
  });
  return { wake: (kind) => worker.wake(kind), stop: () => worker.stop(drainGraceMs) };
}

/** Names what is missing before this process can take work. */
async function findMissing({ installation: { db }, model }: Parts): Promise<readonly string[]> {
  const reachable = await isDatabaseReachable(db);
  return [...(reachable ? [] : ['database: unreachable']), ...missingOf(model)];
}

function openOperations(parts: Parts): FastifyInstance {
  const { config, roles, logger, metrics } = parts;
  const readiness = (): Promise<readonly string[]> => findMissing(parts);
  return buildOperationsApp({ model_id: config.model_id, hasApi: roles.api, readiness, logger, metrics });
}

async function openApi(parts: Parts, worker: RunningWorker | null): Promise<FastifyInstance> {
  const { config, installation, model, logger, metrics, tracing } = parts;
  const readiness = (): Promise<readonly string[]> => findMissing(parts);
  const onAdmitted: Worker['wake'] = (kind) => worker?.wake(kind);
  const { model_id, chatWaitMs, open_jobs } = config;
  const admission = { ...admissionOf(model), open_jobs, onAdmitted };
  const operationsApart = config.operations !== null;
  const { db } = installation;
  const payments = await openPayments(config);
  const people = { modelInUse: modelInUseOf(config, model), examine: () => examine(examinedOf(parts)) };
  return buildApp({
    ...admission,
    db,
    model_id,
    chatWaitMs,
    ...(payments === null ? {} : { payments }),
    ...people,
    readiness,
    logger,
    metrics,
    tracing,
    operationsApart,
  });
}

/** Stripe's library is loaded only where credit is sold. */
async function openPayments({ stripe }: Config): Promise<Payments | null> {
  if (stripe === null) return null;
  const { openStripe } = await import('../payments/stripePayments.js');
  return openStripe(stripe);
}

async function listen(
  app: FastifyInstance,
  { host, port }: { readonly host: string; readonly port: number },
  settings: string,
): Promise<string> {
  await app.listen({ host, port }).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`cannot listen on host ${host}, port ${port} (${settings}): ${why}`, { cause: error });
  });
  const { port: actualPort } = app.server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${actualPort}`;
}
