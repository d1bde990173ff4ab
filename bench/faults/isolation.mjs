// Callers that ask for what is others', by the code of test/security.
import { IsolationWorld } from '../../test/dist/security/isolationWorld.js';
import { probeIsolation } from '../../test/dist/security/probeIsolation.js';
import { messageOf, nothingYet } from './report.mjs';

const probes = 300;

export async function probeOthers({ seed, path, minutes }) {
  const figures = nothingYet();
  const world = await IsolationWorld.open();
  const onProbed = ({ tried, leaks }) => {
    figures.leaks_tried += tried;
    figures.leaks_found += leaks.length;
  };
  await probeIsolation(world, { probes, minutes, seed, path, onProbed }).catch((error) => {
    const what = messageOf(error);
    figures.failures.push({ what, repeat: `npm run bench -- faults --only isolation --seed ${seed}` });
  });
  await world.close();
  return figures;
}
