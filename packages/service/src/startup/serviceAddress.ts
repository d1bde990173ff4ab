import { randomBytes } from 'node:crypto';
import { mkdir, readFile, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { crashPoint } from '../crashPoints.js';
import { isFileLocked, tryLockFile } from '../fileLock/fileLock.js';

const record = z.object({ url: z.string(), started_at_ms: z.number() });

type AddressRecord = z.infer<typeof record> & { readonly file: string };

/** The ending of a record's name until the record is complete and locked. */
const unnamed = '.new';
/** Far longer than a service takes to complete and lock its record. */
const maxNamingMs = 60_000;

export interface ServiceAddress {
  /** The service no longer listens there. */
  withdraw(): Promise<void>;
}

/**
 * Records where a service of this data folder listens, for commands without an address. Each service has a file of its
 * own, since there may be several, and holds its lock as long as it lives.
 */
export async function recordServiceAddress(dataFolder: string, url: string): Promise<ServiceAddress> {
  const folder = recordsFolder(dataFolder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  crashPoint('address.folder_made');
  // Removes the records of killed services.
  for (const file of [...(await readRecords(dataFolder)).map(({ file }) => file), ...(await findUnnamed(folder))])
    if (!(await isFileLocked(file))) {
      await rm(file, { force: true });
      crashPoint('address.dead_removed');
    }
  const name = randomBytes(6).toString('hex');
  const [partial, file] = [path.join(folder, `${name}${unnamed}`), path.join(folder, `${name}.json`)];
  const lock = await tryLockFile(partial);
  if (lock === null) throw new Error(`${partial} is locked although its name is new`);
  const own: z.infer<typeof record> = { url, started_at_ms: Date.now() };
  await lock.write(JSON.stringify(own));
  // Locked before it gets its name, as others would take it for a dead service's.
  await rename(partial, file);
  crashPoint('address.named');
  return {
    withdraw: async () => {
      // A record that cannot be removed is ignored without its lock.
      await rm(file, { force: true }).catch(() => undefined);
      crashPoint('address.withdrawn');
      await lock.release();
    },
  };
}

/** The address of the latest live service. `null` if none lives. */
export async function readServiceAddress(dataFolder: string): Promise<string | null> {
  const newestFirst = (await readRecords(dataFolder)).sort((a, b) => b.started_at_ms - a.started_at_ms);
  for (const { file, url } of newestFirst) if (await isFileLocked(file)) return url;
  return null;
}

async function readRecords(dataFolder: string): Promise<AddressRecord[]> {
  const folder = recordsFolder(dataFolder);
  const names = await readdir(folder).catch(() => []);
  const files = names.filter((name) => name.endsWith('.json')).map((name) => path.join(folder, name));
  const records = await Promise.all(
    files.map(async (file) => {
      try {
        return [{ ...record.parse(JSON.parse(await readFile(file, 'utf8'))), file }];
      } catch {
        return [];
      }
    }),
  );
  return records.flat();
}

/** The records that services left when they died before they named them. A young one may still be in use. */
async function findUnnamed(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(unnamed));
  const files = names.map((name) => path.join(folder, name));
  const modifiedMs = await Promise.all(
    files.map((file) =>
      stat(file).then(
        (at) => at.mtimeMs,
        () => Infinity,
      ),
    ),
  );
  return files.filter((_, i) => (modifiedMs[i] ?? Infinity) < Date.now() - maxNamingMs);
}

function recordsFolder(dataFolder: string): string {
  return path.join(dataFolder, 'services');
}
