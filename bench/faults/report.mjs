// What the parts have in common: their figures, the table, and what repeats a failure.

/**
 * The figures of a part before anything has happened.
 * @returns {{ faults: number, jobs: number, lost_jobs: number, double_charges: number, leaks_tried: number,
 *   leaks_found: number, recoveries_s: number[], failures: { what: string, repeat: string }[] }}
 */
export function nothingYet() {
  return {
    faults: 0,
    jobs: 0,
    lost_jobs: 0,
    double_charges: 0,
    leaks_tried: 0,
    leaks_found: 0,
    recoveries_s: [],
    failures: [],
  };
}

export function total(parts) {
  const sum = (name) => parts.reduce((all, part) => all + part[name], 0);
  return {
    faults: sum('faults'),
    jobs: sum('jobs'),
    lost_jobs: sum('lost_jobs'),
    double_charges: sum('double_charges'),
    leaks_tried: sum('leaks_tried'),
    leaks_found: sum('leaks_found'),
    longest_recovery_s: longest(parts.flatMap(({ recoveries_s }) => recoveries_s)),
    failures: parts.reduce((all, { failures }) => all + failures.length, 0),
  };
}

export function print({ parts, total: all }) {
  const row = (part) => ({
    'faults injected': part.faults,
    'jobs run': part.jobs,
    'jobs lost': part.lost_jobs,
    'double charges': part.double_charges,
    'leaks tried': part.leaks_tried,
    'leaks found': part.leaks_found,
    'longest recovery, s': part.longest_recovery_s?.toFixed(1) ?? '–',
  });
  const rows = Object.entries(parts).map(([name, part]) => [
    name,
    row({ ...part, longest_recovery_s: longest(part.recoveries_s) }),
  ]);
  console.table(Object.fromEntries([...rows, ['all', row(all)]]));
  for (const { what, repeat } of Object.values(parts).flatMap(({ failures }) => failures)) {
    console.error(`FAILED: ${what}\n  again: ${repeat}`);
  }
}

/** `null` where nothing had to recover. */
function longest(recoveriesS) {
  return recoveriesS.length === 0 ? null : Math.max(...recoveriesS);
}

export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}
