import { setTimeout as sleep } from 'node:timers/promises';
import { PassingFailure, type HubClient, type Patience } from './hubClient.js';

/** The attempts end at some point, however far each comes. */
const maxFailures = 100;

/**
 * Tries again after each `PassingFailure`, until this many in a row made no progress.
 * @param reached how far the work has come, in any unit; by default it begins again each time.
 * @throws HubError `unreachable` when it gives up, and anything else that `work` throws
 */
export async function patiently<T>(
  client: HubClient,
  { attempts, pauseMs }: Patience,
  work: () => Promise<T>,
  { signal, reached = () => Promise.resolve(0) }: { signal?: AbortSignal; reached?: () => Promise<number> } = {},
): Promise<T> {
  let [total, inRow, farthest] = [0, 0, await reached()];
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof PassingFailure)) throw error;
      const now = await reached();
      inRow = now > farthest ? 1 : inRow + 1;
      farthest = Math.max(farthest, now);
      total += 1;
      if (inRow >= attempts || total >= maxFailures) throw client.unreachable(error);
      await sleep(Math.max(pauseMs(inRow), error.retryAfterMs ?? 0), undefined, signal === undefined ? {} : { signal });
    }
  }
}

/** Aborts `signal` when nothing is heard for this long. `heard` starts the time again. */
export class IdleWatch {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly signal: AbortSignal;

  constructor(idleMs: number, outer: AbortSignal | undefined) {
    const failure = new PassingFailure(`nothing came for ${Math.round(idleMs / 1000)} seconds`);
    this.#timer = setTimeout(() => this.#controller.abort(failure), idleMs);
    this.signal = outer === undefined ? this.#controller.signal : AbortSignal.any([this.#controller.signal, outer]);
  }

  heard(): void {
    this.#timer.refresh();
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
