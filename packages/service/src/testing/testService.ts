import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Engine } from '@engraft/engine';
import type { LearningMethod } from '@engraft/learning';
import type { FastifyInstance } from 'fastify';
import type { Kysely } from 'kysely';
import { pino } from 'pino';
import { openFolderStore } from '../adapterStore/folderStore.js';
import type { Database } from '../db/schema.js';
import type { AppOptions } from '../http/buildApp.js';
import { startWorker } from '../worker/worker.js';
import { buildTestApp, createTestKey, createTestProject, type TestKey } from './testApp.js';
import { openTestDatabase } from './testDatabase.js';

export interface TestService {
  readonly url: string;
  readonly app: FastifyInstance;
  readonly db: Kysely<Database>;
  /** A key with all scopes and plenty of credit. */
  readonly key: TestKey;
  stop(): Promise<void>;
}

/**
 * The API and a worker on the given engine, listening, with a database of their own. It learns only with a `method`.
 */
export async function startTestService(
  engine: Engine,
  overrides: Partial<AppOptions> = {},
  method: LearningMethod | null = null,
): Promise<TestService> {
  const database = await openTestDatabase({ maxConnections: 16 });
  const { db } = database;
  const key = await createTestKey(db, await createTestProject(db));
  const dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-service-'));
  const store = await openFolderStore(dataFolder);
  const logger = pino({ level: 'silent' });
  const worker = startWorker({
    engine,
    method: () =>
      method === null ? Promise.reject(new Error('this service learns nothing')) : Promise.resolve(method),
    db,
    store,
    dataFolder,
    logger,
    pollMs: 20,
  });
  const { app } = buildTestApp(db, { chatWaitMs: 20_000, onAdmitted: (kind) => worker.wake(kind), ...overrides });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    app,
    db,
    key,
    stop: async () => {
      // `fetch` keeps unused connections open, which nobody would end.
      app.server.closeAllConnections();
      await Promise.all([worker.stop(0), app.close()]);
      await database.close();
      await rm(dataFolder, { recursive: true });
    },
  };
}
