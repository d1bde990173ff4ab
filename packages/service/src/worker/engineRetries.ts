import { EngineError } from '@engraft/engine';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';

/** How often one claim of a job tries the same work. */
const maxEngineAttempts = 3;
const firstDelayMs = 500;

/**
 * Repeats `work` that failed through no fault of its own: the engine's process died under it, or a run that it shared
 * with other calls failed. Lost work is in no usage. Every other error, and the third of these, is passed on.
 */
export async function withEngineRetries<Result>(
  work: () => Promise<Result>,
  signal: AbortSignal,
  logger: Logger,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const repeatable = error instanceof EngineError && error.repeatable;
      if (!repeatable || signal.aborted || attempt === maxEngineAttempts) throw error;
      logger.warn({ attempt, code: error.code }, 'the engine lost the work; it is repeated');
      await sleep(firstDelayMs * 2 ** (attempt - 1), undefined, { signal });
    }
  }
}
