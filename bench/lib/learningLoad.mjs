// Learning jobs on the same machine: another service with its own database, which learns with the shipped model.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { root } from './measure.mjs';
import { addressIn } from './shippedService.mjs';

/** Resolves when the first job trains; `null` where there is no model to train. */
export async function startLearning() {
  if (!existsSync(join(root, 'models/base/model.safetensors'))) return null;
  const { EngraftClient } = await import(pathToFileURL(join(root, 'packages/client/dist/index.js')).href);
  const folder = mkdtempSync(join(tmpdir(), 'engraft-bench-'));
  const program = join(root, 'packages/service/bin/engraft.js');
  const child = spawn(process.execPath, [program, 'serve', '--port', '0', '--data', folder], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = await once(child.stdout, 'data');
  const client = new EngraftClient({
    baseUrl: addressIn(line),
    apiKey: readFileSync(join(folder, 'default-key'), 'utf8').trim(),
  });
  const content = readFileSync(join(root, 'examples/lamp.txt'), 'utf8');
  const learn = (number) =>
    client.internalizations.create({ subject_id: `bench-${number}`, content, max_cost_microusd: 3_000_000 });
  let stopped = false;
  let ended = 0;
  const first = await learn(0);
  await until(client, first.id, ({ phase }) => phase === 'training');
  // One short job after another, since none trains for as long as the rounds take.
  const working = (async () => {
    for (let { id } = first; !stopped; { id } = await learn(ended)) {
      await until(client, id, () => stopped);
      ended += 1;
    }
  })();
  return {
    endedJobs: () => ended,
    stop: async () => {
      stopped = true;
      await working;
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Until it holds, or the job has ended. */
async function until(client, id, holds) {
  for (;;) {
    const job = await client.jobs.get(id);
    if (holds(job)) return;
    if (job.status === 'failed') throw new Error(`the learning job failed: ${JSON.stringify(job)}`);
    if (job.status !== 'queued' && job.status !== 'running') return;
    await delay(250);
  }
}
