import type { WriteStream } from 'node:tty';
import cliProgress from 'cli-progress';
import type { MeasuringPhase, MeasuringProgress } from '@engraft/evaluation';

export interface MeasuringProgressView {
  update(progress: MeasuringProgress): void;
  stop(): void;
}

/** For a stream that a script reads. */
export const silentMeasuring: MeasuringProgressView = { update: () => undefined, stop: () => undefined };

/** Roughly how the time of one passage is spent, in percent, from runs with the shipped model. */
const shares: readonly (readonly [MeasuringPhase, number])[] = [
  ['base', 3],
  ['reading', 7],
  ['teaching', 35],
  ['scoring', 20],
  ['training', 25],
  ['evaluating', 4],
  ['asking', 2],
  ['canaries', 4],
];

/** A bar over all passages, with the current phase and the time left. */
export function showMeasuring(stream: WriteStream): MeasuringProgressView {
  const bar = new cliProgress.SingleBar(
    {
      format: '{bar} {passage} {phase}, {duration_formatted}, {eta_formatted} left',
      stream,
      hideCursor: true,
      clearOnComplete: true,
      fps: 5,
      etaBuffer: 200,
    },
    cliProgress.Presets.shades_classic,
  );
  let started = false;
  return {
    update: ({ index, count, passageId, phase, done, total }) => {
      const payload = { passage: `${index + 1}/${count} ${passageId}`, phase };
      if (!started) bar.start(100 * count, 0, payload);
      started = true;
      bar.update(100 * index + percentDone(phase, done / Math.max(1, total)), payload);
    },
    stop: () => bar.stop(),
  };
}

/** How much of the work on one passage is done. */
export function percentDone(phase: MeasuringPhase, share: number): number {
  const at = shares.findIndex(([name]) => name === phase);
  const before = shares.slice(0, at).reduce((sum, [, percent]) => sum + percent, 0);
  return before + (shares[at]?.[1] ?? 0) * Math.min(1, share);
}
