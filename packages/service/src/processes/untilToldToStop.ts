/** Resolves with the signal's name on the first SIGTERM or SIGINT. A second one ends the process at once. */
export function untilToldToStop(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let told = false;
    for (const name of ['SIGTERM', 'SIGINT'] as const) {
      process.on(name, () => {
        if (told) process.exit(1);
        told = true;
        resolve(name);
      });
    }
  });
}
