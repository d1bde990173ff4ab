import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { EngraftClient } from '@engraft/client';
import { z } from 'zod';
import { openTestDatabase } from '@engraft/service/testing/testDatabase.js';

const entry = fileURLToPath(import.meta.resolve('@engraft/service/testing/serviceToKill.js'));
const listening = z.object({ listening: z.string() });

/** `engraft serve` in a process of its own, with a scripted model, on a database of its own. */
export interface ScriptedService {
  readonly url: string;
  readonly apiKey: string;
  readonly client: EngraftClient;
  readonly log: () => string;
  /** By SIGTERM; the exit code. */
  stop(): Promise<number | null>;
  /** Removes what is left, whether it was stopped or not. */
  close(): Promise<void>;
}

export async function startScriptedService(
  environment: Readonly<Record<string, string>> = {},
  nodeArguments: readonly string[] = [],
): Promise<ScriptedService> {
  const database = await openTestDatabase();
  const folder = await mkdtemp(path.join(tmpdir(), 'engraft-operability-'));
  const dataFolder = path.join(folder, 'data');
  const { PATH, HOME } = process.env;
  const child = fork(entry, {
    execArgv: [...nodeArguments],
    env: { PATH, HOME },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let log = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (log += text));
  const url = await begin(child, {
    DATABASE_URL: database.url,
    ENGRAFT_DATA_DIR: dataFolder,
    ENGRAFT_TEST_SCRIPT_DIR: folder,
    ...environment,
  });
  if (url === null) throw new Error(log);
  const apiKey = (await readFile(path.join(dataFolder, 'default-key'), 'utf8')).trim();
  // Not 'exit', after which there may still be something to read.
  const ended = once(child, 'close') as Promise<[number | null]>;
  return {
    url,
    apiKey,
    client: new EngraftClient({ baseUrl: url, apiKey, maxRetries: 0 }),
    log: () => log,
    stop: async () => {
      child.kill('SIGTERM');
      return (await ended)[0];
    },
    close: async () => {
      child.kill('SIGKILL');
      await ended;
      await database.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** `null`: it ended before it listened. */
function begin(child: ChildProcess, environment: Readonly<Record<string, string>>): Promise<string | null> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve(null));
    child.on('message', (message) => {
      if (message === 'ready') child.send({ environment });
      const told = listening.safeParse(message);
      if (told.success) resolve(told.data.listening);
    });
  });
}
