// What `npm run bench -- seal` has measured so far, in a file that is whole at any time.
import { keepRuns } from './resume.mjs';

/**
 * A run is what is measured as a whole or not at all: a paragraph by itself, or a chain.
 * @param {string} measured see `fingerprint`
 * @param {object} facts what else the file is to say
 * @throws when the file was measured with anything else
 */
export function openStore(file, measured, facts) {
  const { runs, add } = keepRuns(file, measured, facts);
  const reports = () => runs.flatMap((run) => run.reports);
  const askedBase = (id) => reports().find((report) => report.id === id && report.base !== null);
  return {
    hasBase: (id) => askedBase(id) !== undefined,
    /** Base depends on no seed: a paragraph has what it was asked for any of them. `undefined` of what is missing. */
    find: (wanted) => {
      const run = runs.find((each) => keyOf(each) === keyOf(wanted));
      if (run === undefined || run.part === 'chain') return run;
      const [report] = run.reports;
      const asked = askedBase(report.id);
      if (asked === undefined) return undefined;
      const { base, reading, reading_instructed } = asked;
      return { ...run, reports: [{ ...report, base, reading, reading_instructed }] };
    },
    add,
  };
}

function keyOf({ part, seed, ids }) {
  return `${part} ${seed} ${ids.join()}`;
}
