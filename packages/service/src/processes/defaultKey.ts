import { mkdir, open, readFile, rename } from 'node:fs/promises';
import path from 'node:path';

/** The key that `engraft learn` and `engraft ask` use when they are given none; `null` when there is none. */
export async function readDefaultKey(data_folder: string): Promise<string | null> {
  const text = await readFile(keyFile(data_folder), 'utf8').catch(() => '');
  return text.trim() === '' ? null : text.trim();
}

/** Complete and synced before it bears its name; readable by its owner alone. */
export async function writeDefaultKey(data_folder: string, secret: string): Promise<void> {
  await mkdir(data_folder, { recursive: true, mode: 0o700 });
  const partial = `${keyFile(data_folder)}.${process.pid}.new`;
  const file = await open(partial, 'w', 0o600);
  try {
    await file.writeFile(`${secret}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(partial, keyFile(data_folder));
}

function keyFile(data_folder: string): string {
  return path.join(data_folder, 'default-key');
}
