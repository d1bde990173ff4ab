import { open, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { syncFolder } from '@engraft/engine/synced-folders';
import { crashPoint } from '../crashPoints.js';
import { isAbsence } from '../isAbsence.js';
import { makeDataFolder } from './dataFolder.js';

/**
 * The key that `engraft learn` and `engraft ask` use if they are given none. `null` if there is none.
 * @throws Error that names the file if it cannot be read
 */
export async function readDefaultKey(dataFolder: string): Promise<string | null> {
  const text = await readFile(keyFile(dataFolder), 'utf8').catch((error: unknown) => {
    if (isAbsence(error)) return '';
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      `the key in ${keyFile(dataFolder)} cannot be read: ${why}; run engraft as the user who owns it, or set ENGRAFT_API_KEY`,
      { cause: error },
    );
  });
  return text.trim() === '' ? null : text.trim();
}

/** It gets its name when it is complete and synced, so that it survives a power cut. Only its owner can read it. */
export async function writeDefaultKey(dataFolder: string, secret: string): Promise<void> {
  await makeDataFolder(dataFolder);
  // Every attempt uses the same name, so that an interrupted one leaves no secret beside the key.
  const partial = `${keyFile(dataFolder)}.new`;
  const file = await open(partial, 'w', 0o600);
  try {
    await file.writeFile(`${secret}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  crashPoint('default_key.written');
  await rename(partial, keyFile(dataFolder));
  crashPoint('default_key.named');
  await syncFolder(dataFolder);
}

function keyFile(dataFolder: string): string {
  return path.join(dataFolder, 'default-key');
}
