// Random histories on a simulated clock, by the code of test/simulation.
import { simulate } from '../../test/dist/simulation/simulate.js';
import { messageOf, nothingYet } from './report.mjs';

const defaultHistories = 12;

export async function playHistories({ seed, path, minutes }) {
  const figures = { ...nothingYet(), histories: 0, steps: 0 };
  const onPlayed = ({ steps, faults, jobs, leaks_tried, lost_jobs, double_charges }) => {
    figures.histories += 1;
    figures.steps += steps;
    figures.faults += faults;
    figures.jobs += jobs;
    figures.leaks_tried += leaks_tried;
    figures.lost_jobs += lost_jobs.length;
    figures.double_charges += double_charges.length;
  };
  await simulate({ histories: defaultHistories, minutes, seed, path, onPlayed }).catch((error) => {
    // With the seed, the path and the shortest history that still fails.
    const what = messageOf(error);
    const path = /path: "([^"]+)"/.exec(what)?.[1];
    const repeat = `npm run bench -- faults --only simulation --seed ${seed}${path === undefined ? '' : ` --path ${path}`}`;
    figures.failures.push({ what, repeat });
  });
  return figures;
}
