// A rolling upgrade on one PostgreSQL, from an older commit to this release, while clients ask and learn.
//
// npm run bench -- upgrade [--from COMMIT] [--seconds 20]
//
// The commit is checked out and built in a temporary folder; by default it is the newest with fewer migrations than
// this release. Its `engraft api` and `engraft worker` serve, those of this release start beside them and migrate, both
// serve, then the old ones are drained and end by SIGTERM. Six clients ask and one learns all the while. No request may
// be refused, no job lost or charged twice, and the ledger must agree. Writes bench/results/upgrade.json.
import { machine, option, withLoadNote, writeResults } from './lib/measure.mjs';
import { openFleet } from './scale/fleet.mjs';
import { buildRelease, findOlderRelease } from './upgrade/olderRelease.mjs';
import { rollOver } from './upgrade/rollOver.mjs';

export default async function bench(args) {
  const from = findOlderRelease(option(args, 'from', null));
  const seconds = Number(option(args, 'seconds', '20'));
  const at = withLoadNote(machine());
  console.log(`from ${from.commit.slice(0, 8)} (${from.subject}), of ${from.migrations} migrations`);
  const older = buildRelease(from.commit);
  let figures;
  try {
    figures = await upgrade(older.folder, { seconds, repeat: `npm run bench -- upgrade --from ${from.commit}` });
  } finally {
    older.remove();
  }
  print(figures);
  writeResults('upgrade', { machine: at, from, seconds, ...figures });
  if (figures.failures.length > 0) process.exitCode = 1;
}

async function upgrade(olderFolder, plan) {
  const fleet = await openFleet(olderFolder);
  try {
    return await rollOver(fleet, { olderFolder, ...plan });
  } finally {
    await fleet.close();
  }
}

function print({ phases, jobs, lost_jobs, double_charges, ledger_ok, failures }) {
  const rows = phases.map(({ phase, seconds, longest_ms, ...counted }) => [
    phase,
    { seconds: Math.round(seconds), ...counted, longest_s: Number((longest_ms / 1e3).toFixed(1)) },
  ]);
  console.table(Object.fromEntries(rows));
  console.table([{ jobs, lost_jobs, double_charges, ledger_ok }]);
  for (const { what, repeat } of failures) console.error(`FAILED: ${what}\n  again: ${repeat}`);
}
