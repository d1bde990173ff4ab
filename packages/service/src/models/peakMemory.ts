import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * The most memory that a process has had, in bytes. If the system does not keep that, what it has now; `null` if it
 * tells neither. Uses Linux's `VmHWM` for the process alone, and elsewhere the resident set of `ps`.
 */
export async function peakMemory(pid: number): Promise<number | null> {
  try {
    if (process.platform === 'linux') {
      const status = await readFile(`/proc/${pid}/status`, 'utf8');
      return kilobytes(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]);
    }
    const { stdout } = await run('ps', ['-o', 'rss=', '-p', String(pid)]);
    return kilobytes(stdout.trim());
  } catch {
    return null;
  }
}

function kilobytes(text = ''): number | null {
  return /^\d+$/.test(text) ? Number(text) * 1024 : null;
}
