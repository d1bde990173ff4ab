import path from 'node:path';
import type { FileLock } from '../fileLock/fileLock.js';
import { ownFile } from '../fileLock/ownedFile.js';

/**
 * Makes this process the one service of a data folder with an embedded database. Commands beside it need no such lock,
 * since they use its database.
 * @throws an Error that names the folder and the service that has it
 */
export async function lockDataFolder(dataFolder: string): Promise<FileLock> {
  const file = await ownFile(path.join(dataFolder, 'service.lock'));
  if (file.kind === 'owned') return file.lock;
  throw new Error(
    `the data folder ${dataFolder} belongs to a service that runs already${file.owner === '' ? '' : ` (${file.owner})`}: ` +
      'stop that one first, give this one a folder of its own (--data, ENGRAFT_DATA_DIR), or set DATABASE_URL to run several',
  );
}
