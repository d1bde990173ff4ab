import { readFileSync } from 'node:fs';

/** Whether Linux says that the processor has this feature, in its own words. `false` elsewhere. */
export function processorHas(feature: string): boolean {
  return features().has(feature);
}

function features(): ReadonlySet<string> {
  if (process.platform !== 'linux') return new Set();
  try {
    const [, line = ''] = /^flags\s*:\s*(.+)$/mu.exec(readFileSync('/proc/cpuinfo', 'utf8')) ?? [];
    return new Set(line.trim().split(' '));
  } catch {
    return new Set();
  }
}
