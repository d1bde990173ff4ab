import {
  buildTestApp,
  call,
  createTestKey,
  createTestProject,
  type TestApp,
  type TestKey,
} from '@engraft/service/testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '@engraft/service/testing/testDatabase.js';

type Response = Awaited<ReturnType<typeof call>>;

/** The whole HTTP interface in memory, on a PostgreSQL database of its own, with a project and a key of every scope. */
export interface ConformanceService {
  readonly database: TestDatabase;
  readonly app: TestApp;
  readonly project_id: string;
  readonly key: TestKey;
  /** Calls with the key above, unless another or `null` is given. */
  call(
    method: string,
    url: string,
    options?: {
      readonly key?: TestKey | null;
      readonly headers?: Readonly<Record<string, string | undefined>>;
      readonly body?: unknown;
    },
  ): Promise<Response>;
  close(): Promise<void>;
}

export async function openConformanceService(
  overrides: Parameters<typeof buildTestApp>[1] = {},
  databaseOptions: Parameters<typeof openTestDatabase>[0] = {},
): Promise<ConformanceService> {
  const database = await openTestDatabase(databaseOptions);
  const app = buildTestApp(database.db, overrides);
  const projectId = await createTestProject(database.db);
  const key = await createTestKey(database.db, projectId);
  return {
    database,
    app,
    project_id: projectId,
    key,
    call: (method, url, { key: withKey = key, ...options } = {}) =>
      call(app.app, method as 'GET' | 'POST', url, { ...options, ...(withKey === null ? {} : { key: withKey }) }),
    close: async () => {
      await app.app.close();
      await database.close();
    },
  };
}
