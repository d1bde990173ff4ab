// A learning job on the same machine: another service with its own database, which trains on the shipped model.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { root } from './measure.mjs';

/** Resolves when the job trains; `null` where there is no model to train. */
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
    baseUrl: String(line).trim().split(' ').at(-1),
    apiKey: readFileSync(join(folder, 'default-key'), 'utf8').trim(),
  });
  const content = readFileSync(join(root, 'examples/lamp.txt'), 'utf8');
  const { id } = await client.internalizations.create({ subject_id: 'bench', content, max_cost_microusd: 50_000_000 });
  let { phase, status } = await client.jobs.get(id);
  while (phase !== 'training' && (status === 'queued' || status === 'running')) {
    await delay(250);
    ({ phase, status } = await client.jobs.get(id));
  }
  return {
    isTraining: async () => (await client.jobs.get(id)).phase === 'training',
    stop: async () => {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
