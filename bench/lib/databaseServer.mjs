// A PostgreSQL server of its own in which a bench makes databases, as tests do.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { attachEmbeddedPostgres } from '../../packages/service/dist/index.js';

/** Until it is stopped, `openTestDatabase` finds it. */
export async function startDatabaseServer() {
  const folder = mkdtempSync(join(tmpdir(), 'engraft-bench-'));
  const server = await attachEmbeddedPostgres(folder);
  process.env.ENGRAFT_TEST_DATABASE_URL = server.url;
  return {
    stop: async () => {
      await server.release();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
