import type { WriteStream } from 'node:tty';
import cliProgress from 'cli-progress';
import type { BackupPhase, BackupProgress } from '../backup/format.js';
import { formatBytes } from '../formatBytes.js';

export interface BackupProgressView {
  readonly update: (progress: BackupProgress) => void;
  readonly stop: () => void;
}

/** For a stream that a script reads. */
export const silentBackup: BackupProgressView = { update: () => undefined, stop: () => undefined };

/** A bar for each phase, one after the other. */
export function showBackup(stream: WriteStream): BackupProgressView {
  const bar = new cliProgress.SingleBar(
    {
      format: '{bar} {phase}: {done} of {all}, {eta_formatted} left',
      stream,
      hideCursor: true,
      clearOnComplete: true,
      fps: 5,
    },
    cliProgress.Presets.shades_classic,
  );
  let shown: BackupPhase | null = null;
  return {
    update: ({ phase, done, total, unit }) => {
      const format = unit === 'bytes' ? formatBytes : (rows: number) => `${rows} rows`;
      const payload = { phase, done: format(done), all: format(total) };
      if (phase !== shown) bar.start(total, done, payload);
      shown = phase;
      bar.setTotal(total);
      bar.update(done, payload);
    },
    stop: () => bar.stop(),
  };
}
