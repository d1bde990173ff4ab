// Processes of a service with the shipped model are killed or stopped at random moments, while clients ask and one
// passage after another is learned.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRandom } from '../../packages/engine/dist/support/random.js';
import { attachEmbeddedPostgres } from '../../packages/service/dist/index.js';
import { engraft, enginesOf, killDatabase, startService } from '../../test/dist/crash/serviceProcess.js';
import { root } from '../lib/measure.mjs';
import { lookAfterwards } from './afterwards.mjs';
import { Askers } from './askers.mjs';
import { injectFaults } from './injectFaults.mjs';
import { nothingYet } from './report.mjs';

const longestCalmMs = 3_000;

/** Each takes the running service and returns the one that runs afterwards. */
const victims = {
  service: async (service, start) => {
    await service.kill();
    return start();
  },
  'service and database': async (service, start, dataFolder) => {
    await killDatabase(dataFolder);
    await service.kill();
    return start();
  },
  database: async (service, _start, dataFolder) => {
    await killDatabase(dataFolder);
    return service;
  },
  engine: (service) => signalEngines(service, 'SIGKILL'),
  // It hangs, and is noticed by its silence.
  'engine, stopped': (service) => signalEngines(service, 'SIGSTOP'),
};

/** All of them: the one that answers and the one that trains, if there is one. */
async function signalEngines(service, signal) {
  for (const pid of await enginesOf(service)) process.kill(pid, signal);
  return service;
}

export async function killAtRandom({ seed, minutes, kills }) {
  const figures = { ...nothingYet(), recoveries: [] };
  const extent = minutes === undefined ? `--kills ${kills}` : `--minutes ${minutes}`;
  const repeat = `npm run bench -- faults --only kills --seed ${seed} ${extent}`;
  const random = createRandom(seed);
  const dataFolder = mkdtempSync(join(tmpdir(), 'engraft-kills-'));
  const start = () => startService(dataFolder, () => undefined);
  let service = await start();
  await engraft(dataFolder, 'project', 'set', 'default', 'requests_per_minute=60000');
  const passage = readFileSync(join(root, 'examples/lamp.txt'), 'utf8');
  const askers = new Askers(() => service.client, passage);
  const deadlineMs = performance.now() + (minutes ?? 0) * 60_000;
  await injectFaults({
    askers,
    victims: Object.fromEntries(
      Object.entries(victims).map(([name, strike]) => [
        name,
        async () => {
          service = await strike(service, start, dataFolder);
        },
      ]),
    ),
    calmMs: () => random.next() * longestCalmMs,
    isOver: () => (minutes === undefined ? figures.faults >= kills : performance.now() > deadlineMs),
    figures,
    repeat,
  });
  const status = await service.stop();
  if (status !== 0) figures.failures.push({ what: `the service stopped with status ${status}`, repeat });
  const database = await attachEmbeddedPostgres(dataFolder);
  await lookAfterwards({ databaseUrl: database.url, dataFolder, receipts: askers.receipts(), figures, repeat });
  await database.release();
  rmSync(dataFolder, { recursive: true, force: true });
  return figures;
}
