import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { type FileLock, tryLockFile } from '../fileLock/fileLock.js';

/**
 * Makes this process the one service of a data folder with an embedded database. Commands beside it need no such lock:
 * they use its database.
 * @throws Error naming the folder and the service that has it.
 */
export async function lockDataFolder(data_folder: string): Promise<FileLock> {
  const file = path.join(data_folder, 'service.lock');
  const lock = await tryLockFile(file);
  if (lock === null) {
    const owner = await readFile(file, 'utf8').catch(() => '');
    throw new Error(
      `the data folder ${data_folder} belongs to a service that runs already${owner === '' ? '' : ` (${owner.trim()})`}: ` +
        'stop that one first, give this one a folder of its own (--data, ENGRAFT_DATA_DIR), or set DATABASE_URL to run several',
    );
  }
  await lock.write(`process ${process.pid} on ${hostname()}, since ${new Date().toISOString()}\n`);
  return lock;
}
