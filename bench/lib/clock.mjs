// Progress of a bench that takes hours.

/** A line a passage, with the time left if the rest goes as fast. */
export function startClock(total) {
  const startedAt = performance.now();
  let done = 0;
  return {
    tick: (line) => {
      done += 1;
      const leftMinutes = ((performance.now() - startedAt) / 60_000 / done) * (total - done);
      console.log(`[${done}/${total}, ${leftMinutes.toFixed(1)} min left] ${line}`);
    },
  };
}
