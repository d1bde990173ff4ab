/**
 * A mark of this process for the names of what it writes. Other processes can tell from it whether this one still runs.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** `<where process ids are shared>-<process id>-<start time>` */
export const markPattern = '[0-9a-f]{12}-\\d{1,10}-\\d{1,20}';

/** Stands for a start time that the system does not tell. */
const unknownStart = '0';

let own: { readonly space: string; readonly mark: string } | undefined;

export function ownMark(): string {
  return ownIdentity().mark;
}

/** The state of the process with this mark; `unknown` for other machines and containers. */
export function processState(mark: string): 'running' | 'gone' | 'unknown' {
  const [space, pid = '', start] = mark.split('-');
  if (space !== ownIdentity().space) return 'unknown';
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    // Another user's process exists, but the system says no more about it.
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return 'gone';
  }
  const found = startOf(pid);
  if (start === unknownStart || found === unknownStart) return 'unknown';
  return found === start ? 'running' : 'gone';
}

function ownIdentity(): { readonly space: string; readonly mark: string } {
  if (own === undefined) {
    const space = createHash('sha256').update(processSpace()).digest('hex').slice(0, 12);
    own = { space, mark: `${space}-${process.pid}-${startOf(String(process.pid))}` };
  }
  return own;
}

/** Containers on one machine may each have a process 7. So may machines that share a folder. */
function processSpace(): string {
  if (process.platform !== 'linux') return hostname();
  try {
    // In a `/proc` of another namespace the same numbers are other processes.
    if (readlinkSync('/proc/self') === String(process.pid)) {
      return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')} ${readlinkSync('/proc/self/ns/pid')}`;
    }
  } catch {
    // There is no `/proc`, or only part of it.
  }
  return randomBytes(16).toString('hex');
}

/**
 * The start time in the system's own unit, because process ids are reused. Only Linux tells it without another program.
 */
function startOf(pid: string): string {
  if (process.platform !== 'linux') return unknownStart;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in parentheses may contain anything. See proc_pid_stat(5) for the fields; these are the third and the
    // 22nd.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, start = unknownStart] = [fields[0], fields[19]];
    // A zombie: the process has ended, and its parent has not waited for it.
    return state === 'Z' ? 'ended' : start;
  } catch {
    return unknownStart;
  }
}
