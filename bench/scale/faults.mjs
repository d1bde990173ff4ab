// Two API processes and two workers on one database, each of which is killed in turn while clients ask and learn.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lookAfterwards } from '../faults/afterwards.mjs';
import { Askers } from '../faults/askers.mjs';
import { injectFaults } from '../faults/injectFaults.mjs';
import { nothingYet } from '../faults/report.mjs';
import { root } from '../lib/measure.mjs';

const calmMs = 2_000;
const repeatCommand = 'npm run bench -- scale --only faults';

export async function killEach(fleet, { rounds }) {
  const figures = { ...nothingYet(), recoveries: [] };
  const processes = {
    apis: [await fleet.startApi(), await fleet.startApi()],
    workers: [await fleet.startWorker(), await fleet.startWorker()],
  };
  let turn = 0;
  // As behind a balancer: a request that finds a dead process is sent again, to the other one.
  const nextClient = () => processes.apis[(turn += 1) % 2].client;
  const askers = new Askers(nextClient, readFileSync(join(root, 'examples/lamp.txt'), 'utf8'));
  const victims = victimsOf(fleet, processes);
  const count = rounds * Object.keys(victims).length;
  await injectFaults({
    askers,
    victims,
    calmMs: () => calmMs,
    isOver: () => figures.faults >= count,
    figures,
    repeat: repeatCommand,
  });
  for (const each of [...processes.workers, ...processes.apis]) await each.stop();
  const { databaseUrl, dataFolder } = fleet;
  await lookAfterwards({ databaseUrl, dataFolder, receipts: askers.receipts(), figures, repeat: repeatCommand });
  return figures;
}

/** Whoever is killed is started again, as an orchestrator does. */
function victimsOf(fleet, { apis, workers }) {
  const replace = async (group, index, start) => {
    await group[index].kill();
    group[index] = await start();
  };
  return {
    'an api process': () => replace(apis, 0, fleet.startApi),
    'a worker': () => replace(workers, 0, fleet.startWorker),
    'the other api process': () => replace(apis, 1, fleet.startApi),
    'the other worker': () => replace(workers, 1, fleet.startWorker),
    'the database': () => fleet.killDatabase(),
  };
}
