/** `timeout` and other wrappers signal a process and its group, so that one wish to stop arrives twice. */
const sameWishMs = 1_000;
const parentPollMs = 500;

/** The wish that the service stops, which may come at any time. */
export interface StopWish {
  /** Resolves with the signal's name. */
  readonly told: Promise<NodeJS.Signals>;
  readonly isTold: () => boolean;
  /** For a start, which goes on no further then. */
  readonly throwIfTold: () => void;
}

/**
 * The wish is the first SIGTERM, SIGINT or SIGHUP (which a closing terminal sends). Another one, more than a moment
 * later, ends the process at once. Under `npx` the loss of the parent counts as SIGTERM, since npm
 * does not pass signals on to what it runs.
 */
export function untilToldToStop(): StopWish {
  let toldAtMs: number | null = null;
  const told = new Promise<NodeJS.Signals>((resolve) => {
    const tell = (name: NodeJS.Signals): void => {
      const nowMs = performance.now();
      if (toldAtMs !== null && nowMs - toldAtMs > sameWishMs) process.exit(1);
      toldAtMs ??= nowMs;
      resolve(name);
    };
    for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, () => tell(name));
    if (process.env['npm_command'] === 'exec') {
      onceParentIsLost(() => {
        if (toldAtMs === null) tell('SIGTERM');
      });
    }
  });
  const isTold = (): boolean => toldAtMs !== null;
  const throwIfTold = (): void => {
    if (isTold()) throw new Error('told to stop');
  };
  return { told, isTold, throwIfTold };
}

function onceParentIsLost(lost: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    lost();
  }, parentPollMs).unref();
}
