import type { Kysely } from 'kysely';
import { listWorkFolders, removeWorkFolder } from '../adapterStore/workFolder.js';
import type { Database } from '../db/schema.js';

/**
 * Removes the work folders of ended jobs, which a worker that died or lost its lease left behind. Returns how many
 * there were.
 */
export async function removeEndedWork(
  db: Kysely<Database>,
  dataFolder: string,
  stopping?: AbortSignal,
): Promise<number> {
  const jobIds = await listWorkFolders(dataFolder);
  if (jobIds.length === 0) return 0;
  const ended = await db
    .selectFrom('jobs')
    .select('id')
    .where('id', 'in', jobIds)
    .where('status', 'not in', ['queued', 'running'])
    .execute();
  let removed = 0;
  for (const { id } of ended) {
    if (stopping?.aborted === true) break;
    await removeWorkFolder(dataFolder, id);
    removed += 1;
  }
  return removed;
}
