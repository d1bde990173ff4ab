// Two API processes and two workers on one database, each of which is killed in turn while clients ask and learn.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { lookAfterwards } from '../faults/afterwards.mjs';
import { Askers } from '../faults/askers.mjs';
import { messageOf, nothingYet } from '../faults/report.mjs';
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
  askers.begin();
  try {
    await askers.nextAnswer();
    for (let fault = 0; fault < rounds * Object.keys(victims).length; fault += 1) {
      await delay(calmMs);
      const victim = Object.keys(victims)[fault % Object.keys(victims).length];
      const beganMs = performance.now();
      await victims[victim]();
      await askers.nextAnswer();
      const seconds = (performance.now() - beganMs) / 1e3;
      figures.faults += 1;
      figures.recoveries_s.push(seconds);
      figures.recoveries.push({ victim, seconds });
      console.log(`${victim}: answered again after ${seconds.toFixed(1)} s`);
    }
    await askers.end();
  } catch (error) {
    askers.abandon();
    figures.failures.push({ what: messageOf(error), repeat: repeatCommand });
  }
  for (const what of new Set(askers.faults)) figures.failures.push({ what, repeat: repeatCommand });
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
