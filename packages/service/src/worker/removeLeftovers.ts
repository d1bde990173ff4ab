import { listWorkFolders, removeWorkFolder } from '../adapterStore/workFolder.js';
import type { JobContext } from './jobContext.js';

/** Removes the work folders of jobs that have ended, which a worker that died left behind. */
export async function removeLeftovers({ db, data_folder }: Pick<JobContext, 'db' | 'data_folder'>): Promise<void> {
  const job_ids = await listWorkFolders(data_folder);
  if (job_ids.length === 0) return;
  const ended = await db
    .selectFrom('jobs')
    .select('id')
    .where('id', 'in', job_ids)
    .where('settled', '=', true)
    .execute();
  for (const { id } of ended) await removeWorkFolder(data_folder, id);
}
