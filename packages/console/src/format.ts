const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
const count = new Intl.NumberFormat();

export function formatTime(iso: string): string {
  return moment.format(new Date(iso));
}

export function formatAge(iso: string, nowMs = Date.now()): string {
  const seconds = Math.round((Date.parse(iso) - nowMs) / 1000);
  const steps = [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
  ] as const;
  for (const [unit, length] of steps)
    if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit);
  return relative.format(seconds, 'second');
}

export function formatCount(value: number): string {
  return count.format(value);
}

/** At least cents, at most micro-USD. */
export function formatUsd(microusd: number): string {
  const [whole = '0', fraction = ''] = (Math.abs(microusd) / 1_000_000).toFixed(6).split('.');
  const digits = fraction.replace(/0{1,4}$/, '');
  return `${microusd < 0 ? '−' : ''}$${count.format(Number(whole))}.${digits}`;
}

const byteSteps = [
  [1e9, 'GB'],
  [1e6, 'MB'],
  [1e3, 'kB'],
] as const;

export function formatBytes(bytes: number): string {
  for (const [size, unit] of byteSteps)
    if (bytes >= size) return `${count.format(Math.round((bytes / size) * 10) / 10)} ${unit}`;
  return `${count.format(bytes)} bytes`;
}

/** No more exact than an estimate. */
export function formatDuration(seconds: number): string {
  if (seconds < 100) return `${count.format(Math.max(1, Math.round(seconds)))} s`;
  return seconds < 5_400 ? `${Math.round(seconds / 60)} minutes` : `${Math.round(seconds / 3_600)} hours`;
}
