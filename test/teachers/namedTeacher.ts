import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** A server that variables name, see docs/operating. */
export interface NamedTeacher {
  /** Base address, which ends in `/v1`. */
  readonly url: string;
  readonly model: string;
  readonly apiKey: string | null;
  /** A shell command that starts the server, for tests that kill it; `null`: it runs, and is left alone. */
  readonly command: string | null;
}

/** `null`: the variables name none. */
export function teacherOfVariables(): NamedTeacher | null {
  const of = (name: string): string | null => process.env[`ENGRAFT_TEST_TEACHER_${name}`] ?? null;
  const [url, model] = [of('URL'), of('MODEL')];
  return url === null || model === null ? null : { url, model, apiKey: of('API_KEY'), command: of('COMMAND') };
}

/** The settings of a service, so that the server at `url` teaches. */
export function settingsFor({ model, apiKey }: NamedTeacher, url: string): Record<string, string> {
  return {
    ENGRAFT_TEACHER_URL: url,
    ENGRAFT_TEACHER_MODEL: model,
    ...(apiKey === null ? {} : { ENGRAFT_TEACHER_API_KEY: apiKey }),
  };
}

/** Loading a large model takes a while. */
const patienceMs = 600_000;

/** The server's processes, which the command started. */
export class TeacherProcess {
  #child: ChildProcess | null = null;

  constructor(
    private readonly command: string,
    private readonly teacher: NamedTeacher,
  ) {}

  /** Resolves when it lists its models. */
  async start(): Promise<void> {
    // A process group of its own, which signals are sent to: a server may have processes besides.
    const child = spawn('sh', ['-c', this.command], { detached: true, stdio: 'ignore' });
    this.#child = child;
    // A test that fails leaves none behind, and one that takes too long, which the runner ends by SIGTERM.
    process.once('exit', () => {
      if (child.exitCode === null && child.signalCode === null) this.signal('SIGKILL');
    });
    process.once('SIGTERM', () => process.exit(1));
    const { url, apiKey } = this.teacher;
    const headers: Record<string, string> = apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
    const deadline = Date.now() + patienceMs;
    for (;;) {
      const isReady = await fetch(`${url}/models`, { headers }).then(
        ({ ok }) => ok,
        () => false,
      );
      if (isReady) return;
      if (child.exitCode !== null) throw new Error(`the teacher's command ended with status ${child.exitCode}`);
      if (Date.now() > deadline) throw new Error('the teacher lists no models');
      await sleep(500);
    }
  }

  signal(signal: NodeJS.Signals): void {
    const pid = this.#child?.pid;
    if (pid !== undefined) process.kill(-pid, signal);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    this.signal('SIGKILL');
    this.#child = null;
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
}
