/** `timeout` and other wrappers signal a process and its group, so that one wish to stop comes twice. */
const same_wish_ms = 1_000;
const parent_poll_ms = 500;

/**
 * Resolves with the signal's name on the first SIGTERM, SIGINT or SIGHUP, which a terminal sends that is closed;
 * another one, later than a moment, ends the process at once. Under `npx` the loss of the parent counts as SIGTERM: npm
 * passes no signal on to what it runs.
 */
export function untilToldToStop(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let told_at_ms: number | null = null;
    const tell = (name: NodeJS.Signals): void => {
      const now_ms = performance.now();
      if (told_at_ms !== null && now_ms - told_at_ms > same_wish_ms) process.exit(1);
      told_at_ms ??= now_ms;
      resolve(name);
    };
    for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, () => tell(name));
    if (process.env['npm_command'] === 'exec') {
      onceParentIsLost(() => {
        if (told_at_ms === null) tell('SIGTERM');
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
  }, parent_poll_ms).unref();
}
