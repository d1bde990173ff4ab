import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** `engraft` itself, as a process of its own. */
const program = fileURLToPath(new URL('../../../bin/engraft.js', import.meta.url));

/** Runs a command in the same terminal, to its end or until the signal; whether it succeeded. */
export function runCommand(args: readonly string[], signal: AbortSignal): Promise<boolean> {
  const child = spawn(process.execPath, [program, ...args], { stdio: 'inherit' });
  const stop = endOnce(child, signal);
  return new Promise((resolve) =>
    child.once('exit', (status) => {
      signal.removeEventListener('abort', stop);
      resolve(status === 0);
    }),
  );
}

/** Asks the process to end once: it takes a second signal for an order to end without draining. */
function endOnce(child: ChildProcess, signal: AbortSignal): () => void {
  let isTold = false;
  const stop = (): void => {
    if (!isTold) child.kill('SIGTERM');
    isTold = true;
  };
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  return stop;
}

/** A service that runs beside this process. */
export interface StartedService {
  readonly url: string;
  stop(): Promise<void>;
}

export type ServiceStart =
  | { readonly kind: 'started'; readonly service: StartedService }
  /** It ended without serving, and has said why. */
  | { readonly kind: 'ended' }
  /** A signal reached it before it could take notice, and perhaps before it reached this process. */
  | { readonly kind: 'interrupted'; readonly by: NodeJS.Signals };

/**
 * Starts `engraft serve` on any free port; its log goes to standard error from warnings on. The signal stops it.
 */
export async function startService(args: readonly string[], signal: AbortSignal): Promise<ServiceStart> {
  const child = spawn(process.execPath, [program, 'serve', '--port', '0', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ENGRAFT_LOG_LEVEL: 'warn', ...process.env },
  });
  const stop = endOnce(child, signal);
  const ended = new Promise<NodeJS.Signals | null>((resolve) =>
    child.once('exit', (_status, killedBy) => resolve(killedBy)),
  );
  const url = await new Promise<string | null>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const match = /^engraft listening on (\S+)$/.exec(line);
      if (match?.[1] !== undefined) resolve(match[1]);
    });
    void ended.then(() => resolve(null));
  });
  if (url === null) {
    const by = await ended;
    return by === 'SIGINT' || by === 'SIGTERM' || by === 'SIGHUP' ? { kind: 'interrupted', by } : { kind: 'ended' };
  }
  const stopped = async (): Promise<void> => {
    stop();
    await ended;
  };
  return { kind: 'started', service: { url, stop: stopped } };
}
