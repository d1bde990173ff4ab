/** A mark of this process in the names of what it writes, by which other processes see whether it still runs. */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** `<where process ids mean the same>-<process id>-<its start>` */
export const MARK_PATTERN = '[0-9a-f]{12}-\\d{1,10}-\\d{1,20}';

/** Stands for a start that the system does not tell. */
const UNKNOWN_START = '0';

let own: { readonly space: string; readonly mark: string } | undefined;

export function ownMark(): string {
  return self().mark;
}

/** What became of the process with this mark; `unknown` of those of other machines and containers. */
export function fateOf(mark: string): 'running' | 'gone' | 'unknown' {
  const [space, pid = '', start] = mark.split('-');
  if (space !== self().space) return 'unknown';
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    // Another user's process may be asked for, too, but not be told anything.
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return 'gone';
  }
  const found = startOf(pid);
  if (start === UNKNOWN_START || found === UNKNOWN_START) return 'unknown';
  return found === start ? 'running' : 'gone';
}

function self(): { readonly space: string; readonly mark: string } {
  if (own === undefined) {
    const space = createHash('sha256').update(processSpace()).digest('hex').slice(0, 12);
    own = { space, mark: `${space}-${process.pid}-${startOf(String(process.pid))}` };
  }
  return own;
}

/** Containers on one machine may all have a process 7, and so may machines that share a folder. */
function processSpace(): string {
  if (process.platform !== 'linux') return hostname();
  try {
    // In a `/proc` of another namespace the same numbers are other processes.
    if (readlinkSync('/proc/self') === String(process.pid)) {
      return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')} ${readlinkSync('/proc/self/ns/pid')}`;
    }
  } catch {
    // There is no `/proc`, or not all of it.
  }
  return randomBytes(16).toString('hex');
}

/** In the system's own unit, since process ids are given again. Only Linux tells without asking another program. */
function startOf(pid: string): string {
  if (process.platform !== 'linux') return UNKNOWN_START;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name before may hold anything; see proc_pid_stat(5) for the fields, of which these are the third and the
    // 22nd.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, start = UNKNOWN_START] = [fields[0], fields[19]];
    // Only the number is left of a process that has ended and that its parent has not waited for.
    return state === 'Z' ? 'ended' : start;
  } catch {
    return UNKNOWN_START;
  }
}
