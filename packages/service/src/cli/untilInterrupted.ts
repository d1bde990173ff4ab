import { constants } from 'node:os';
import { untilToldToStop } from '../startup/untilToldToStop.js';

/**
 * Does work that a person or supervisor may stop, once in a process. The first SIGINT, SIGTERM or SIGHUP aborts it, and
 * so that it can clean up, a copy of the same wish does nothing. A later signal ends the process at once, and so does
 * one that comes after the work.
 * @param failure makes what is thrown in place of the error of work that was stopped
 */
export async function untilInterrupted<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
  failure: (name: NodeJS.Signals) => Error,
): Promise<Result> {
  const interrupted = new AbortController();
  const told: { name?: NodeJS.Signals } = {};
  let isOver = false;
  // The handlers stay after the work. Without them, a copy that comes late would change the exit status. A first signal
  // then ends the process with the status that it has without handlers.
  void untilToldToStop().told.then((name) => {
    if (isOver) process.exit(128 + constants.signals[name]);
    told.name = name;
    interrupted.abort();
  });
  try {
    return await work(interrupted.signal);
  } catch (error) {
    throw told.name === undefined ? error : failure(told.name);
  } finally {
    isOver = true;
  }
}
