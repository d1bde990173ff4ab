import type { Writable } from 'node:stream';

export interface LogOutput {
  /** Takes a whole line, or drops it. It never waits for a reader. */
  write(line: string): void;
  /** Lines dropped since the start. */
  readonly droppedLines: () => number;
}

export interface LogOutputOptions {
  /** UTF-16 units of lines that may wait for the reader. */
  readonly maxWaitingUnits?: number;
  /** The reader takes lines again, after this many were dropped. */
  readonly onResumed: (droppedLines: number) => void;
}

/** Some 4,000 lines. */
const defaultMaxWaitingUnits = 1024 * 1024;

/**
 * Writes lines to a stream that somebody else reads, such as standard error. Lines that a slow reader leaves wait in
 * memory up to a limit. Then lines are dropped until half of the waiting ones have been taken, so that what is missing
 * is one gap. A line that cannot be written also counts as dropped.
 *
 * pino's own asynchronous destination does not serve: each of its writes blocks a thread until the reader comes, and a
 * process does not end before its threads.
 */
export function openLogOutput(stream: Writable, { maxWaitingUnits, onResumed }: LogOutputOptions): LogOutput {
  const maxUnits = maxWaitingUnits ?? defaultMaxWaitingUnits;
  let waitingUnits = 0;
  let isDropping = false;
  let droppedLines = 0;
  let toldLines = 0;
  // The reader is gone. Each line that it did not get is counted below.
  stream.on('error', () => undefined);

  const onWritten = (units: number, error: Error | null | undefined): void => {
    waitingUnits -= units;
    if (error) droppedLines += 1;
    if (waitingUnits > maxUnits / 2) return;
    isDropping = false;
    const untoldLines = droppedLines - toldLines;
    if (error || untoldLines === 0) return;
    toldLines = droppedLines;
    onResumed(untoldLines);
  };

  return {
    write(line) {
      isDropping ||= waitingUnits > 0 && waitingUnits + line.length > maxUnits;
      if (isDropping) {
        droppedLines += 1;
        return;
      }
      waitingUnits += line.length;
      doNotBlock(stream);
      stream.write(line, (error) => onWritten(line.length, error));
    },
    droppedLines: () => droppedLines,
  };
}

/**
 * Runs before each line. Node.js writes to a terminal in blocking mode, and another process that shares a pipe may set
 * it back, as npm does when it ends. A stream without such a handle (files, Windows) needs nothing.
 */
function doNotBlock(stream: Writable): void {
  if ('_handle' in stream && isSettable(stream._handle)) stream._handle.setBlocking(false);
}

function isSettable(handle: unknown): handle is { setBlocking(blocking: boolean): void } {
  return (
    typeof handle === 'object' && handle !== null && 'setBlocking' in handle && typeof handle.setBlocking === 'function'
  );
}

/** At the end of a process. */
const soonMs = 1_000;

/** Resolves when the reader has taken everything written before, or with `false` after a second. */
export async function isWrittenSoon(stream: Writable): Promise<boolean> {
  if (stream.writableLength === 0) return true;
  return new Promise((resolve) => {
    const late = setTimeout(resolve, soonMs, false);
    stream.write('', () => {
      clearTimeout(late);
      resolve(true);
    });
  });
}
