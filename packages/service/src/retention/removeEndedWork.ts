import type { Kysely } from 'kysely';
import { listWorkFolders, removeWorkFolder } from '../adapterStore/workFolder.js';
import type { Database } from '../db/schema.js';

/** Removes the work folders of jobs that nobody goes on with, which a worker that died or lost its lease left behind. */
export async function removeEndedWork(db: Kysely<Database>, data_folder: string): Promise<void> {
  const job_ids = await listWorkFolders(data_folder);
  if (job_ids.length === 0) return;
  const ended = await db
    .selectFrom('jobs')
    .select('id')
    .where('id', 'in', job_ids)
    .where('status', 'not in', ['queued', 'running'])
    .execute();
  for (const { id } of ended) await removeWorkFolder(data_folder, id);
}
