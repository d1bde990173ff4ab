import { EngineError } from '@engraft/engine';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';

/** How often one claim of a job may lose its engine process. */
const engine_attempts_max = 3;
const first_delay_ms = 500;

/**
 * Runs `work` again when the engine's process died under it: the host starts a new one, and "the caller may repeat
 * the call". Every other error, and the third death, is passed on.
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
      const died = error instanceof EngineError && error.code === 'process_lost';
      if (!died || signal.aborted || attempt === engine_attempts_max) throw error;
      logger.warn({ attempt }, 'the engine process died; the work is repeated');
      await sleep(first_delay_ms * 2 ** (attempt - 1), undefined, { signal });
    }
  }
}
