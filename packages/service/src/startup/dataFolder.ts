import { constants } from 'node:fs';
import { access, mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { crashPoint } from '../crashPoints.js';

/** A backup is restored here until all of it is there. */
export function restoringFolder(dataFolder: string): string {
  return path.join(dataFolder, '.restoring');
}

/**
 * Makes the folder if it is missing, for its owner alone.
 * @throws an Error that names the setting if the folder cannot be made or written to, or a restore has not finished
 */
export async function makeDataFolder(dataFolder: string): Promise<void> {
  try {
    await makeFolder(path.resolve(dataFolder));
    await access(dataFolder, constants.R_OK | constants.W_OK | constants.X_OK);
    if ((await stat(restoringFolder(dataFolder)).catch(() => null)) !== null) {
      throw new Error('a backup is being restored into it; if the restore was cut short, empty it and restore again');
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`the data folder ${dataFolder} (--data, ENGRAFT_DATA_DIR) cannot be used: ${why}`, {
      cause: error,
    });
  }
}

/** Goes level by level: if a file system has no room for folders (`/proc`), the recursion of Node.js 20 never ends. */
async function makeFolder(folder: string): Promise<void> {
  const code = await make(folder);
  if (code === 'ENOENT' && path.dirname(folder) !== folder) {
    await makeFolder(path.dirname(folder));
    // Others may have made it meanwhile.
    if ((await make(folder)) === 'ENOENT') throw new Error(`${folder} cannot be made there`);
  }
  if (!(await stat(folder)).isDirectory()) throw new Error(`${folder} is no folder`);
}

/** The error that prevents it, if it may pass. */
async function make(folder: string): Promise<'EEXIST' | 'ENOENT' | null> {
  try {
    await mkdir(folder, { mode: 0o700 });
    crashPoint('data_folder.made');
    return null;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EEXIST' || code === 'ENOENT') return code;
    throw error;
  }
}
