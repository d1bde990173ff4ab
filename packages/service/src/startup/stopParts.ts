import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { AdapterStore } from '../adapterStore/adapterStore.js';
import type { ClockWatch } from '../clock/watchClock.js';
import type { FileLock } from '../fileLock/fileLock.js';
import type { Retention } from '../retention/startRetention.js';
import type { Tracing } from '../tracing/tracing.js';
import type { Worker } from '../worker/worker.js';
import type { BoundedStop } from './boundedStop.js';
import type { Installation } from './installation.js';
import type { ModelState } from './modelState.js';
import type { ServiceAddress } from './serviceAddress.js';

/** Clients get this long to read their answers. */
const hangUpAfterMs = 8_000;
/** The worker waits this long for calls that ignore the stop. Then they end with the engine. */
const engineKeptMs = 9_000;

export interface RunningWorker extends Pick<Worker, 'wake'> {
  stop(): Promise<void>;
}

/** The parts that have been started so far, so that a failed start stops them again. */
export interface Running {
  lock?: FileLock;
  installation?: Installation;
  model?: ModelState;
  clock?: ClockWatch;
  tracing?: Tracing;
  store?: AdapterStore;
  retention?: Retention;
  worker?: RunningWorker | null;
  app?: FastifyInstance;
  operations?: FastifyInstance;
  address?: ServiceAddress;
}

/** Stops what runs: first what takes work, last what all others need. */
export async function stopParts(running: Running, stopping: BoundedStop): Promise<void> {
  const { lock, installation, model, clock, tracing, store, retention, worker, app, operations, address } = running;
  await stopping.part('address', address?.withdraw());
  const engine = model?.kind === 'loaded' ? model.engine?.engine : undefined;
  const closeEngine = (): Promise<void> => stopping.part('engine', engine?.close());
  const kept = setTimeout(() => void closeEngine(), engineKeptMs);
  await Promise.all([
    stopping.part('worker', worker?.stop()),
    stopping.part('retention', retention?.stop()),
    stopping.part('clock', clock?.stop()),
    stopping.part('api', app === undefined ? undefined : closeApi(app)),
    stopping.part('operations', operations === undefined ? undefined : closeApi(operations)),
  ]);
  clearTimeout(kept);
  await closeEngine();
  await stopping.part('adapters', store?.close());
  await stopping.part('traces', tracing?.stop());
  await stopping.part('database', installation?.close());
  await stopping.part('lock', lock?.release());
}

async function closeApi(app: FastifyInstance): Promise<void> {
  const closed = app.close();
  const hangUp = new AbortController();
  const late = sleep(hangUpAfterMs, 'late', { signal: hangUp.signal }).catch(() => 'closed');
  if ((await Promise.race([closed, late])) === 'late') app.server.closeAllConnections();
  hangUp.abort();
  await closed;
}
