import type { WriteStream } from 'node:tty';
import cliProgress from 'cli-progress';
import { learningPhases, type JobPhase } from '@engraft/contract';

export interface LearningProgressView {
  update(phase: JobPhase): void;
  stop(): void;
}

/** For a stream that a script reads. */
export const silentProgress: LearningProgressView = { update: () => undefined, stop: () => undefined };

/** A bar over the phases on a terminal, one line a phase elsewhere. */
export function showLearningProgress(stream: WriteStream): LearningProgressView {
  return stream.isTTY ? showBar(stream) : showLines(stream);
}

function showBar(stream: WriteStream): LearningProgressView {
  const bar = new cliProgress.SingleBar(
    { format: '{bar} {phase} {duration_formatted}', stream, hideCursor: true, clearOnComplete: true, fps: 5 },
    cliProgress.Presets.shades_classic,
  );
  bar.start(learningPhases.length - 1, 0, { phase: 'queued' });
  return {
    update: (phase) => bar.update(phaseIndex(phase), { phase }),
    stop: () => bar.stop(),
  };
}

function showLines(stream: NodeJS.WritableStream): LearningProgressView {
  let shown: JobPhase | null = null;
  return {
    update: (phase) => {
      if (phase !== shown) stream.write(`${phase}\n`);
      shown = phase;
    },
    stop: () => undefined,
  };
}

function phaseIndex(phase: JobPhase): number {
  return Math.max(
    0,
    learningPhases.findIndex((each) => each === phase),
  );
}
