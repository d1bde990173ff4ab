/** `timeout` and other wrappers signal a process and its group, so that one wish to stop arrives twice. */
const sameWishMs = 1_000;
const parentPollMs = 500;

/**
 * Resolves with the signal's name on the first SIGTERM, SIGINT or SIGHUP (which a closing terminal sends). Another one,
 * more than a moment later, ends the process at once. Under `npx` the loss of the parent counts as SIGTERM, since npm
 * does not pass signals on to what it runs.
 */
export function untilToldToStop(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let toldAtMs: number | null = null;
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
}

function onceParentIsLost(lost: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    lost();
  }, parentPollMs).unref();
}
