import type { Logger } from 'pino';
import { isWrittenSoon } from './logOutput.js';

/** A stop that ends. When its time is over, the log names what is left, and the process ends with exit code 1. */
export interface BoundedStop {
  /** The time runs from the first call. */
  begin(): void;
  /** Names what is being stopped, as long as that takes. */
  part(name: string, stopped: Promise<void> | undefined): Promise<void>;
}

/** Without it a supervisor that never kills would wait for ever. */
export function boundStop(withinMs: number, logger: Logger): BoundedStop {
  const parts = new Set<string>();
  let begun = false;
  const giveUp = (): void => {
    logger.fatal(
      { open: [...parts], within_ms: withinMs },
      'the service could not be stopped in time; it ends as it is',
    );
    void isWrittenSoon(process.stderr).then(() => process.exit(1));
  };
  return {
    begin: () => {
      if (!begun) setTimeout(giveUp, withinMs).unref();
      begun = true;
    },
    part: async (name, stopped) => {
      parts.add(name);
      try {
        await stopped;
      } finally {
        parts.delete(name);
      }
    },
  };
}
