// What Linux tells of a process; nothing where there is no /proc.
import { readFileSync } from 'node:fs';

const ticksPerSecond = 100;

/** User and system time of a process so far; NaN where it is not known. */
export function cpuSeconds(pid) {
  const stat = readIfThere(`/proc/${pid}/stat`);
  if (stat === null) return NaN;
  // The name, in brackets, may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** A process's memory in use and its peak, in bytes; `null` when it is gone. */
export function memoryBytes(pid) {
  const status = readIfThere(`/proc/${pid}/status`);
  return status === null ? null : memoryOf(status);
}

/** Reads the text of /proc/PID/status; `null` for a process that has ended and is not removed yet. */
export function memoryOf(status) {
  const bytes = (field) => 1024 * Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? NaN);
  const [resident, peak] = [bytes('VmRSS'), bytes('VmHWM')];
  return Number.isNaN(peak) ? null : { resident, peak };
}

function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
