import type { WriteStream } from 'node:tty';
import cliProgress from 'cli-progress';
import type { PullProgress } from '@engraft/hub';
import { formatBytes } from '../formatBytes.js';

export interface PullProgressView {
  readonly update: (progress: PullProgress) => void;
  readonly stop: () => void;
}

/** For a stream that a script reads. */
export const silentPulling: PullProgressView = { update: () => undefined, stop: () => undefined };

/** A bar with the bytes, the rate and the time left. */
export function showPulling(stream: WriteStream): PullProgressView {
  const bar = new cliProgress.SingleBar(
    {
      format: '{bar} {done} of {all}, {rate}/s, {left} left: {path}',
      stream,
      hideCursor: true,
      clearOnComplete: true,
      fps: 5,
    },
    cliProgress.Presets.shades_classic,
  );
  const rate = new TransferRate();
  let all: number | null = null;
  return {
    update: ({ path, doneBytes, totalBytes }) => {
      rate.add(performance.now(), doneBytes);
      const payload = { path, ...transferFigures(doneBytes, totalBytes, rate.bytesPerSecond) };
      // Each stage of a pull has its own total.
      if (all !== totalBytes) bar.start(totalBytes, doneBytes, payload);
      all = totalBytes;
      bar.update(doneBytes, payload);
    },
    stop: () => bar.stop(),
  };
}

/** Figures as people read them. An unknown rate is left out. */
export function transferFigures(
  doneBytes: number,
  totalBytes: number,
  bytesPerSecond: number | null,
): { readonly done: string; readonly all: string; readonly rate: string; readonly left: string } {
  const known = bytesPerSecond === null || bytesPerSecond === 0 ? null : bytesPerSecond;
  return {
    done: formatBytes(doneBytes),
    all: formatBytes(totalBytes),
    rate: known === null ? '?' : formatBytes(known),
    left: known === null ? '?' : formatDuration((totalBytes - doneBytes) / known),
  };
}

function formatDuration(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  return whole < 3600 ? `${Math.ceil(whole / 60)} min` : `${(whole / 3600).toFixed(1)} h`;
}

const windowMs = 10_000;

/** The rate of the last seconds. A stall shows, and bytes from before the start do not count. */
export class TransferRate {
  readonly #points: { readonly atMs: number; readonly bytes: number }[] = [];

  add(atMs: number, bytes: number): void {
    // Another file, or one that starts again.
    if (bytes < (this.#points.at(-1)?.bytes ?? 0)) this.#points.length = 0;
    this.#points.push({ atMs, bytes });
    while ((this.#points[1]?.atMs ?? Infinity) <= atMs - windowMs) this.#points.shift();
  }

  /** `null` while there is nothing to measure. */
  get bytesPerSecond(): number | null {
    const [first, last] = [this.#points[0], this.#points.at(-1)];
    if (first === undefined || last === undefined || last.atMs <= first.atMs) return null;
    return ((last.bytes - first.bytes) / (last.atMs - first.atMs)) * 1000;
  }
}
