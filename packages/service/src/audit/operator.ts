import { hostname, userInfo } from 'node:os';

/** Who changes something by a command, and why. */
export interface Operator {
  /** The name that operators give themselves, or else the user of the operating system. */
  readonly actor: string;
  /** `user@host` of the process. */
  readonly account: string;
  readonly reason: string | null;
}

/** Who runs this process. `by` is the name they choose. */
export function thisOperator({ by, reason }: { readonly by?: string; readonly reason?: string } = {}): Operator {
  const user = systemUser();
  return { actor: by ?? user, account: `${user}@${hostname()}`, reason: reason ?? null };
}

/** In a container a process may run under a number that belongs to no user. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
