import type { TestDatabase } from './testDatabase.js';

export function readJobRow(db: TestDatabase['db'], jobId: string) {
  return db.selectFrom('jobs').selectAll().where('id', '=', jobId).executeTakeFirstOrThrow();
}
