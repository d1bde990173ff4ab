import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

const record = z.object({ pid: z.int(), url: z.string() });

/** Where the service of this data folder listens, for commands that are given no address. */
export async function writeServiceAddress(data_folder: string, url: string): Promise<void> {
  await mkdir(data_folder, { recursive: true, mode: 0o700 });
  await writeFile(addressFile(data_folder), JSON.stringify({ pid: process.pid, url }), { mode: 0o600 });
}

/** Removes the record, unless another process has written its own meanwhile. */
export async function removeServiceAddress(data_folder: string): Promise<void> {
  if ((await readRecord(data_folder))?.pid === process.pid) await rm(addressFile(data_folder), { force: true });
}

/** `null` when no service has said where it listens. A killed service's record stays: nobody answers there. */
export async function readServiceAddress(data_folder: string): Promise<string | null> {
  return (await readRecord(data_folder))?.url ?? null;
}

async function readRecord(data_folder: string): Promise<z.infer<typeof record> | null> {
  try {
    return record.parse(JSON.parse(await readFile(addressFile(data_folder), 'utf8')));
  } catch {
    return null;
  }
}

function addressFile(data_folder: string): string {
  return path.join(data_folder, 'service.json');
}
