import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { EngraftClient } from '@engraft/client';
import type { CrashOrder } from '@engraft/service/testing/crashOrder.js';
import { program } from './serviceProcess.js';

const entry = (name: string): string => fileURLToPath(import.meta.resolve(`@engraft/service/testing/${name}.js`));
const loader = ['--import', import.meta.resolve('@engraft/service/testing/dieAtCrashPoint.js')];

/** Far longer than it takes a process to come to any crash point. */
const patienceMs = 120_000;

interface Listening {
  readonly listening: string;
}

/** The service with a scripted model, in a process that is told where to die. One more is always made ready. */
export class KillableService {
  #spare: Promise<ChildProcess>;
  #running: ChildProcess | null = null;
  #client: EngraftClient | null = null;

  constructor(readonly environment: Readonly<Record<string, string>>) {
    this.#spare = makeReady();
  }

  get is_running(): boolean {
    return this.#running !== null;
  }

  /** The client of the running service. */
  get client(): EngraftClient {
    if (this.#client === null) throw new Error('the service does not run');
    return this.#client;
  }

  /** Resolves when the service listens, or has died at the ordered point. */
  async start(order?: CrashOrder, more: Readonly<Record<string, string>> = {}): Promise<'listening' | 'died'> {
    const child = await this.#spare;
    this.#spare = makeReady();
    this.#running = child;
    const environment = { ...this.environment, ...more };
    const told = once(child, 'exit').then(() => null);
    const listening = untilListening(child);
    if (order !== undefined) await this.arm(order);
    child.send({ environment });
    const url = await Promise.race([told, listening]);
    if (url === null) {
      this.#running = null;
      assertKilled(child);
      return 'died';
    }
    const dataFolder = environment['ENGRAFT_DATA_DIR'] ?? '';
    const apiKey = (await readFile(path.join(dataFolder, 'default-key'), 'utf8')).trim();
    this.#client = new EngraftClient({ baseUrl: url, apiKey, maxRetries: 0 });
    return 'listening';
  }

  async arm(order: CrashOrder): Promise<void> {
    const child = this.#running;
    if (child === null) throw new Error('the service does not run');
    const armed = untilTold(child, (message) => (message === 'armed' ? message : undefined));
    child.send(order);
    await armed;
  }

  /** Resolves when the service has died at the point that it was armed with. */
  async died(): Promise<void> {
    const child = this.#running;
    if (child === null) return;
    if (child.exitCode === null && child.signalCode === null) {
      await Promise.race([once(child, 'exit'), sleep(patienceMs, undefined, { ref: false })]);
    }
    this.#running = null;
    this.#client = null;
    const isLate = child.exitCode === null && child.signalCode === null;
    if (isLate) {
      child.kill('SIGKILL');
      await once(child, 'exit');
      throw new Error('the service did not come to the crash point');
    }
    assertKilled(child);
  }

  /** Resolves when the service has stopped at the point that it was armed with. Linux only. */
  async stopped(): Promise<void> {
    const { pid } = this.#running ?? {};
    const deadlineMs = performance.now() + patienceMs;
    const state = async (): Promise<string> => (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /s, '');
    while (!(await state()).startsWith('T')) {
      if (performance.now() > deadlineMs) throw new Error('the service did not come to the crash point');
      await sleep(5);
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#running?.kill(signal);
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.died();
  }

  async close(): Promise<void> {
    await this.kill();
    (await this.#spare).kill('SIGKILL');
  }

  /** A command beside the service, as an operator gives it. */
  async command(args: readonly string[], order?: CrashOrder): Promise<{ signal: string | null; printed: unknown }> {
    const child = spawn(process.execPath, [...loader, program, ...args, '--json'], {
      env: {
        ...this.environment,
        ...(order === undefined ? {} : { ENGRAFT_TEST_CRASH_ORDER: JSON.stringify(order) }),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [printed, [, signal]] = await Promise.all([
      text(child.stdout),
      once(child, 'exit') as Promise<[number | null, string | null]>,
    ]);
    return { signal, printed: printed === '' ? null : (JSON.parse(printed) as unknown) };
  }
}

async function makeReady(): Promise<ChildProcess> {
  const { PATH, HOME } = process.env;
  const child = fork(entry('serviceToKill'), { execArgv: loader, env: { PATH, HOME } });
  await untilTold(child, (message) => (message === 'ready' ? message : undefined));
  return child;
}

function untilListening(child: ChildProcess): Promise<string> {
  return untilTold(child, (message) =>
    typeof message === 'object' && message !== null && 'listening' in message
      ? (message as Listening).listening
      : undefined,
  );
}

/** The first message that `read` makes something of. */
function untilTold<Told>(child: ChildProcess, read: (message: unknown) => Told | undefined): Promise<Told> {
  return new Promise((resolve) => {
    const onMessage = (message: unknown): void => {
      const told = read(message);
      if (told === undefined) return;
      child.off('message', onMessage);
      resolve(told);
    };
    child.on('message', onMessage);
  });
}

function assertKilled(child: ChildProcess): void {
  if (child.signalCode !== 'SIGKILL') throw new Error(`the service ended by itself, with ${child.exitCode}`);
}
