import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

const record = z.object({ pid: z.int(), url: z.string() });

const answer_within_ms = 1_000;

/** Where the service of this data folder listens, for commands that are given no address. One that is recorded already, and answers, stays. */
export async function writeServiceAddress(data_folder: string, url: string): Promise<void> {
  const earlier = await readRecord(data_folder);
  if (earlier !== null && earlier.url !== url && (await answers(earlier.url))) return;
  await mkdir(data_folder, { recursive: true, mode: 0o700 });
  await writeFile(addressFile(data_folder), JSON.stringify({ pid: process.pid, url }), { mode: 0o600 });
}

/** Removes the record, unless it is of another service: in containers all of them may have the same process id. */
export async function removeServiceAddress(data_folder: string, url: string): Promise<void> {
  const found = await readRecord(data_folder);
  if (found?.pid === process.pid && found.url === url) await rm(addressFile(data_folder), { force: true });
}

/** `null` when no service has said where it listens. A killed service's record stays: nobody answers there. */
export async function readServiceAddress(data_folder: string): Promise<string | null> {
  return (await readRecord(data_folder))?.url ?? null;
}

async function answers(url: string): Promise<boolean> {
  return fetch(`${url}/healthz`, { signal: AbortSignal.timeout(answer_within_ms) }).then(
    ({ ok }) => ok,
    () => false,
  );
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
