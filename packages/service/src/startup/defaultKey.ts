import { open, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { syncFolder } from '@engraft/engine/synced-folders';
import { crashPoint } from '../crashPoints.js';
import { makeDataFolder } from './dataFolder.js';

/**
 * The key that `engraft learn` and `engraft ask` use if they are given none. `null` if there is none.
 * @throws Error if it cannot be read
 */
export async function readDefaultKey(dataFolder: string): Promise<string | null> {
  const text = await readFile(keyFile(dataFolder), 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return '';
    throw error;
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
