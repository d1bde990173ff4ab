import { readFile } from 'node:fs/promises';

/** The operating-system account that the server runs under. */
export interface ServerAccount {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Chooses the account of the server. PostgreSQL refuses to run as root, so a root process starts it under another
 * account of this machine: `postgres` if there is one, else `nobody`, else any other (initdb insists on a name for its
 * user). `null` if this process is not root, so that the server runs under the same account.
 */
export async function chooseServerAccount(): Promise<ServerAccount | null> {
  if (process.getuid?.() !== 0) return null;
  const accounts = parseAccounts(await readFile('/etc/passwd', 'utf8').catch(() => ''));
  const chosen = accounts.find(named('postgres')) ?? accounts.find(named('nobody')) ?? accounts.at(-1);
  if (chosen === undefined) {
    throw new Error(
      'PostgreSQL refuses to run as root and /etc/passwd names no other account: run as another user, or set DATABASE_URL',
    );
  }
  return { uid: chosen.uid, gid: chosen.gid };
}

interface NamedAccount extends ServerAccount {
  readonly name: string;
}

function parseAccounts(passwd: string): NamedAccount[] {
  return passwd
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .filter(({ uid, gid }) => Number.isInteger(uid) && Number.isInteger(gid) && uid > 0);
}

function named(name: string): (account: NamedAccount) => boolean {
  return (account) => account.name === name;
}
