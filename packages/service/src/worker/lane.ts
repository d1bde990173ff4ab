import type { Logger } from 'pino';

export interface LaneOptions<Job> {
  /** How many jobs run at once. */
  readonly concurrency: number;
  /** How often an idle lane asks for work. */
  readonly pollMs: number;
  readonly claim: () => Promise<Job | null>;
  /** Whether jobs can run now. While they cannot, none is claimed. */
  readonly ready: () => boolean;
  /** Never rejects. */
  readonly run: (job: Job) => Promise<void>;
  readonly logger: Logger;
}

/** Claims jobs of one kind and runs them, up to a number at once. */
export interface Lane {
  /** There may be work now. */
  wake(): void;
  /** Claims no more. Resolves when the running jobs are done. */
  drain(): Promise<void>;
}

const failedClaimDelayMs = 1_000;

export function startLane<Job>({ concurrency, pollMs, claim, ready, run, logger }: LaneOptions<Job>): Lane {
  const running = new Set<Promise<void>>();
  let draining = false;
  let awake = false;
  let rouse: () => void = () => undefined;

  const wake = (): void => {
    awake = true;
    rouse();
  };
  /** Rests until woken. A call to `wake` since the last claim counts. */
  const rest = async (durationMs: number): Promise<void> => {
    if (awake) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, durationMs);
      rouse = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  };
  const start = (job: Job): void => {
    const done = run(job).finally(() => {
      running.delete(done);
      wake();
    });
    running.add(done);
  };
  const loop = async (): Promise<void> => {
    while (!draining) {
      awake = false;
      if (running.size >= concurrency || !ready()) {
        await rest(pollMs);
        continue;
      }
      try {
        const job = await claim();
        if (job === null) await rest(pollMs);
        else start(job);
      } catch (error) {
        logger.warn({ err: error }, 'no work could be claimed');
        await rest(failedClaimDelayMs);
      }
    }
    await Promise.all(running);
  };
  const looping = loop();

  return {
    wake,
    drain: () => {
      draining = true;
      wake();
      return looping;
    },
  };
}
