import { randomBytes } from 'node:crypto';
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { isAlive } from '../db/embeddedPostgres/index.js';

const record = z.object({ pid: z.int(), url: z.string(), started_at_ms: z.number() });

export interface ServiceAddress {
  /** The service no longer listens there. */
  withdraw(): Promise<void>;
}

/**
 * Says where a service of this data folder listens, for commands that are given no address: each service in a file of its own, since there may be
 * several, in containers with the same process id.
 */
export async function recordServiceAddress(data_folder: string, url: string): Promise<ServiceAddress> {
  const folder = recordsFolder(data_folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // What killed services left.
  for (const { file, pid } of await readRecords(data_folder)) if (!isAlive(pid)) await rm(file, { force: true });
  const file = path.join(folder, `${randomBytes(6).toString('hex')}.json`);
  const own: z.infer<typeof record> = { pid: process.pid, url, started_at_ms: Date.now() };
  await writeFile(file, JSON.stringify(own), { mode: 0o600 });
  // One that cannot be removed is passed over once its process is gone.
  return { withdraw: () => rm(file, { force: true }).catch(() => undefined) };
}

/** Of the service that was started last, of those that live; `null` when there is none. */
export async function readServiceAddress(data_folder: string): Promise<string | null> {
  const living = (await readRecords(data_folder)).filter(({ pid }) => isAlive(pid));
  const [newest] = living.sort((a, b) => b.started_at_ms - a.started_at_ms);
  return newest?.url ?? null;
}

async function readRecords(data_folder: string): Promise<(z.infer<typeof record> & { readonly file: string })[]> {
  const folder = recordsFolder(data_folder);
  const names = await readdir(folder).catch(() => []);
  const records = await Promise.all(
    names.map(async (name) => {
      const file = path.join(folder, name);
      try {
        return [{ ...record.parse(JSON.parse(await readFile(file, 'utf8'))), file }];
      } catch {
        return [];
      }
    }),
  );
  return records.flat();
}

function recordsFolder(data_folder: string): string {
  return path.join(data_folder, 'services');
}
