/** A real trainer without a GPU, for tests. See `scripts/testPeft.mjs`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The Python that has the trainer's requirements, or `null`. */
export const peftPython = process.env['ENGRAFT_TEST_PEFT_PYTHON'] ?? null;

export const noPeft = 'ENGRAFT_TEST_PEFT_PYTHON names no Python with PEFT: `npm run test:peft` does';

const sources = fileURLToPath(new URL('../../../../trainers/peft/src', import.meta.url));
const keptLogChars = 4_000;

export interface TrainerProcess {
  readonly url: string;
  readonly pid: number;
  /** SIGKILL by default. Resolves when it has ended. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Starts one on a checkpoint, and resolves when it listens. Rejects with the end of its log if it ends before. */
export async function startTrainer(modelDir: string, flags: readonly string[] = []): Promise<TrainerProcess> {
  const args = ['-m', 'engraft_trainer', '--model', modelDir, '--port', '0', ...flags];
  const child = spawn(peftPython ?? 'python3', args, {
    env: {
      ...process.env,
      PYTHONPATH: sources,
      OMP_NUM_THREADS: '1',
      HF_HUB_OFFLINE: '1',
      PYTHONDONTWRITEBYTECODE: '1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = (): void => void child.kill('SIGKILL');
  // A test that fails leaves none behind, and one that takes too long, which the runner ends by SIGTERM.
  process.once('exit', kill);
  process.once('SIGTERM', () => process.exit(1));
  const exited = once(child, 'exit');
  let log = '';
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (piece: Buffer) => {
      const found = /listening on (http:\S+)/.exec(piece.toString());
      if (found?.[1] !== undefined) resolve(found[1]);
    });
    child.stderr.on('data', (piece: Buffer) => (log = (log + piece.toString()).slice(-keptLogChars)));
    void exited.then(() => reject(new Error(`the trainer ended: ${log}`)));
  });
  return {
    url,
    pid: child.pid ?? 0,
    stop: async (signal = 'SIGKILL') => {
      child.kill(signal);
      await exited;
      process.off('exit', kill);
    },
  };
}
