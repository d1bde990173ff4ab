import type { WriteStream } from 'node:tty';
import cliProgress from 'cli-progress';
import type { TeacherProgress } from '@engraft/evaluation';

export interface TeacherProgressView {
  readonly update: (progress: TeacherProgress) => void;
  readonly stop: () => void;
}

/** Steps between two lines on a stream that is no terminal. */
const lineSteps = 20;

/** A bar with the loss and the time left on a terminal; elsewhere a line now and then. */
export function showTeacherProgress(stream: WriteStream): TeacherProgressView {
  return stream.isTTY ? showBar(stream) : showLines(stream);
}

function showBar(stream: WriteStream): TeacherProgressView {
  const bar = new cliProgress.SingleBar(
    {
      format: '{bar} {value}/{total} steps, loss {loss}, {eta_formatted} left',
      stream,
      hideCursor: true,
      clearOnComplete: true,
      fps: 5,
    },
    cliProgress.Presets.shades_classic,
  );
  let started = false;
  return {
    update: ({ done, total, loss }) => {
      const payload = { loss: loss.toFixed(3) };
      if (!started) bar.start(total, done, payload);
      started = true;
      bar.update(done, payload);
    },
    stop: () => bar.stop(),
  };
}

function showLines(stream: NodeJS.WritableStream): TeacherProgressView {
  return {
    update: ({ done, total, loss, tokens }) => {
      if (done % lineSteps !== 0 && done !== total) return;
      stream.write(`${done} of ${total} steps, loss ${loss.toFixed(3)}, ${tokens} tokens\n`);
    },
    stop: () => undefined,
  };
}
