import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmod,
  chown,
  lchown,
  lstat,
  mkdir,
  open,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { syncFolder } from '@engraft/engine/synced-folders';
import type { FileLock } from '../../fileLock/fileLock.js';
import { isAbsence } from '../../isAbsence.js';
import { chooseServerAccount, type ServerAccount } from './account.js';
import { prepareBinaries, type ServerBinaries } from './binaries.js';

/** Everything needed to start, reach and recognise the server of one data folder. */
export interface Cluster {
  /** PostgreSQL's own data directory. */
  readonly folder: string;
  readonly password: string;
  readonly logFile: string;
  readonly account: ServerAccount | null;
  readonly binaries: ServerBinaries;
}

/** The superuser of the cluster, and the only user. */
export const clusterUser = 'engraft';

/**
 * Whether a server was ever started in this data folder.
 * @throws an Error that names the folder if nobody can tell
 */
export async function hasCluster(dataFolder: string): Promise<boolean> {
  return isPresent(homeOf(dataFolder));
}

/** Opens the cluster in `<data>/postgres`. `null` while there is none. */
export async function openCluster(dataFolder: string): Promise<Cluster | null> {
  const home = homeOf(dataFolder);
  return (await isPresent(home)) ? readCluster(home, await prepareSite(dataFolder)) : null;
}

/** Does the same, but makes it on the first start. */
export async function openOrMakeCluster(dataFolder: string, lock: FileLock): Promise<Cluster> {
  const home = homeOf(dataFolder);
  const site = await prepareSite(dataFolder);
  if (!(await isPresent(home))) {
    await createCluster(home, { ...site, password: randomBytes(24).toString('base64url') }, lock);
  }
  return readCluster(home, site);
}

/** The parts of a cluster that are not in its folder. */
type Site = Pick<Cluster, 'account' | 'binaries' | 'logFile'>;

async function prepareSite(dataFolder: string): Promise<Site> {
  const logs = path.join(path.resolve(dataFolder), 'logs');
  await mkdir(logs, { recursive: true, mode: 0o700 });
  const account = await chooseServerAccount();
  return { account, binaries: await prepareBinaries(account), logFile: path.join(logs, 'postgres.log') };
}

async function readCluster(home: string, site: Site): Promise<Cluster> {
  const folder = path.join(home, 'cluster');
  const account = site.account === null ? null : await adoptOwner(home, folder, site.account);
  await keepToOwner(folder, 0o700);
  await keepToOwner(passwordFile({ folder }), 0o600);
  const password = (await readFile(passwordFile({ folder }), 'utf8')).trim();
  return { ...site, account, folder, password };
}

function homeOf(dataFolder: string): string {
  return path.join(path.resolve(dataFolder), 'postgres');
}

export function passwordFile({ folder }: Pick<Cluster, 'folder'>): string {
  return path.join(path.dirname(folder), 'password');
}

/** A copy may have lost its modes, and PostgreSQL does not start if others can read the folder. */
async function keepToOwner(file: string, mode: number): Promise<void> {
  if (((await stat(file)).mode & 0o077) !== 0) await chmod(file, mode);
}

/**
 * The name of the data directory for the server's programs. Under another account they could not follow its path
 * (nobody may pass through a home or temporary folder of root's). But every process can use the working folder that it
 * was started in, and these are started in the data directory.
 */
export function dataDirectoryArgument(cluster: Pick<Cluster, 'account' | 'folder'>): string {
  return cluster.account !== null && process.platform === 'linux' ? '/proc/self/cwd' : cluster.folder;
}

/** A rename gives the cluster its name when it is complete. */
async function createCluster(home: string, site: Site & Pick<Cluster, 'password'>, lock: FileLock): Promise<void> {
  const parent = path.dirname(home);
  await removeAbandoned(parent);
  const staging = `${home}.new`;
  const cluster = { ...site, folder: path.join(staging, 'cluster') };
  const passwordPath = passwordFile(cluster);
  try {
    await mkdir(cluster.folder, { recursive: true });
    await writeFile(passwordPath, `${cluster.password}\n`, { mode: 0o600 });
    for (const folder of [staging, cluster.folder]) await chmod(folder, 0o700);
    const { account } = cluster;
    if (account !== null) {
      for (const file of [staging, cluster.folder, passwordPath]) await chown(file, account.uid, account.gid);
    }
    await runInitdb(cluster, passwordPath, lock);
    await rename(staging, home);
    await syncFolder(parent);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** Removes clusters whose making was interrupted. An earlier release put a process id into the name. */
async function removeAbandoned(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (/^postgres\.(\d+\.)?new$/.test(name)) await rm(path.join(parent, name), { recursive: true, force: true });
  }
}

/** It inherits the lock, so that nobody else makes a cluster there while it outlives its starter. */
async function runInitdb(cluster: Cluster, passwordPath: string, lock: FileLock): Promise<void> {
  const password = await open(passwordPath, 'r');
  const flags = [
    `--pgdata=${dataDirectoryArgument(cluster)}`,
    `--username=${clusterUser}`,
    // Elsewhere the server's account may be one that cannot follow the path.
    `--pwfile=${process.platform === 'win32' ? passwordPath : '/dev/fd/3'}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--no-instructions',
  ];
  const child = spawn(cluster.binaries.initdb, flags, {
    cwd: cluster.folder,
    env: serverEnvironment,
    stdio: ['ignore', 'ignore', 'pipe', password.fd, lock.fd],
    // A Ctrl-C that is meant for the service leaves it to finish.
    detached: true,
    ...cluster.account,
  });
  let complaint = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (complaint += text));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  }).finally(() => password.close());
  if (code !== 0) throw new Error(`initdb could not make the database: ${complaint.trim().replaceAll('\n', ' ')}`);
}

/**
 * Passes on nothing of the service's environment, which may hold secrets, and PostgreSQL variables meant for other
 * servers.
 */
export const serverEnvironment = { LC_ALL: 'C', TZ: 'UTC' };

/**
 * A cluster keeps the account that it was made under, even if this machine would choose another now. One that belongs
 * to root (a restored backup, for example) is given to `fallback`.
 */
async function adoptOwner(home: string, folder: string, fallback: ServerAccount): Promise<ServerAccount> {
  const { uid, gid } = await stat(folder);
  if (uid !== 0) return { uid, gid };
  await changeOwner(home, fallback);
  return fallback;
}

async function changeOwner(file: string, account: ServerAccount): Promise<void> {
  await lchown(file, account.uid, account.gid);
  if (!(await lstat(file)).isDirectory()) return;
  for (const name of await readdir(file)) await changeOwner(path.join(file, name), account);
}

/** @throws an Error that names the folder if nobody can tell */
async function isPresent(home: string): Promise<boolean> {
  try {
    await stat(path.join(home, 'cluster', 'PG_VERSION'));
    return true;
  } catch (error) {
    if (isAbsence(error)) return false;
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`the database in ${home} cannot be used: ${why}; run engraft as the user who owns it`, {
      cause: error,
    });
  }
}
