// Processes of one service (`engraft api`, `engraft worker`) on one PostgreSQL and one folder of adapters.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { EngraftClient } from '../../packages/client/dist/index.js';
import { attachEmbeddedPostgres } from '../../packages/service/dist/index.js';
import { killDatabase } from '../../test/dist/crash/serviceProcess.js';
import { root } from '../lib/measure.mjs';
import { addressIn } from '../lib/shippedService.mjs';

const readyMs = 120_000;

/**
 * A database with one project, whose key may do everything and as often as it likes.
 * @param release the folder of the repository whose code makes the database
 */
export async function openFleet(release = root) {
  const dataFolder = mkdtempSync(join(tmpdir(), 'engraft-scale-'));
  const databaseFolder = join(dataFolder, 'database');
  const database = await attachEmbeddedPostgres(databaseFolder);
  const { PATH, HOME } = process.env;
  const env = {
    PATH,
    HOME,
    DATABASE_URL: database.url,
    ENGRAFT_DATA_DIR: join(dataFolder, 'data'),
    ENGRAFT_LOG_LEVEL: 'error',
    ENGRAFT_PROJECT_OPEN_JOBS: '999999',
    ENGRAFT_OPEN_JOBS: '999999',
  };
  const started = [];
  const starterOf = (folder) => (variables, args, output) => {
    const process = start(folder, { ...env, ...variables }, args, output);
    started.push(process);
    return process;
  };
  await command(release, env, 'project', 'create', 'bench');
  await command(release, env, 'project', 'set', 'bench', 'requests_per_minute=600000');
  await command(release, env, 'credit', 'grant', '--project', 'bench', '--usd', '1000000');
  const scopes = ['inference', 'internalize', 'read', 'adapters'].flatMap((scope) => ['--scope', scope]);
  const { secret } = await command(release, env, 'key', 'create', '--project', 'bench', ...scopes);
  return {
    databaseUrl: database.url,
    dataFolder: env.ENGRAFT_DATA_DIR,
    authorization: `Bearer ${secret}`,
    /** Both start the release in that folder. */
    startApi: (folder = root) => startApi(starterOf(folder), secret),
    startWorker: (folder = root) => startWorker(starterOf(folder)),
    /** Runs a command of this release, and returns what it prints. */
    command: (...args) => command(root, env, ...args),
    /** As a power cut would; this process starts it again. */
    killDatabase: () => killDatabase(databaseFolder),
    /** Also after a failure, when processes are left. */
    close: async () => {
      await Promise.all(started.map((each) => each.kill()));
      await database.release();
      rmSync(dataFolder, { recursive: true, force: true });
    },
  };
}

const programOf = (folder) => join(folder, 'packages/service/bin/engraft.js');

async function command(folder, env, ...args) {
  const child = spawn(process.execPath, [programOf(folder), ...args, '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [printed, [status]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (status !== 0) throw new Error(`engraft ${args.join(' ')} ended with status ${status}`);
  return JSON.parse(printed);
}

async function startApi(startWith, apiKey) {
  const started = startWith({}, ['api', '--port', '0'], 'pipe');
  const [line] = await Promise.race([once(started.child.stdout, 'data'), started.endedEarly]);
  const url = addressIn(line);
  const client = new EngraftClient({ baseUrl: url, apiKey, maxRetries: 0 });
  return { ...started, url, port: Number(new URL(url).port), client };
}

/** Resolves when its engine can answer. */
async function startWorker(startWith) {
  const port = await findFreePort();
  const started = startWith({ ENGRAFT_OPERATIONS_PORT: String(port) }, ['worker'], 'ignore');
  const deadlineMs = performance.now() + readyMs;
  while (!(await isReady(port))) {
    if (performance.now() > deadlineMs) throw new Error('engraft worker did not become ready');
    await Promise.race([delay(100), started.endedEarly]);
  }
  return started;
}

function start(folder, env, args, output) {
  const child = spawn(process.execPath, [programOf(folder), ...args], { env, stdio: ['ignore', output, 'inherit'] });
  const exited = once(child, 'exit');
  const endedEarly = exited.then(([status]) => {
    throw new Error(`engraft ${args[0]} ended with status ${status} before it was ready`);
  });
  // It ends later, too, when nobody waits for it to be ready.
  endedEarly.catch(() => undefined);
  const end = async (signal) => {
    child.kill(signal);
    const [status] = await exited;
    return status;
  };
  return { child, endedEarly, kill: () => end('SIGKILL'), stop: () => end('SIGTERM') };
}

async function isReady(port) {
  try {
    return (await fetch(`http://127.0.0.1:${port}/readyz`)).ok;
  } catch {
    return false;
  }
}

async function findFreePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
