/** A real vLLM server without a GPU, for tests. See `scripts/testVllm.mjs`. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** The Python that has vLLM, or `null`. */
export const vllmPython = process.env['ENGRAFT_TEST_VLLM_PYTHON'] ?? null;

export const noVllm = 'ENGRAFT_TEST_VLLM_PYTHON names no Python with vLLM: `npm run test:vllm` does';

/** The environment of a vLLM that asks nobody and takes little of a processor. */
export const vllmVariables = {
  VLLM_ALLOW_RUNTIME_LORA_UPDATING: '1',
  VLLM_CPU_KVCACHE_SPACE: '1',
  VLLM_CPU_OMP_THREADS_BIND: 'nobind',
  VLLM_NO_USAGE_STATS: '1',
  DO_NOT_TRACK: '1',
  TRANSFORMERS_OFFLINE: '1',
  HF_HUB_OFFLINE: '1',
  TORCHDYNAMO_DISABLE: '1',
  OMP_NUM_THREADS: '1',
} as const;

const flags = ['--enable-lora', '--max-lora-rank', '16', '--max-loras', '2', '--dtype', 'float32', '--enforce-eager'];
/** The head is left out: where it takes adapters, vLLM on a processor dies of scores beside other requests. */
const targets = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'];
const sizes = ['--max-model-len', '2048', '--max-num-seqs', '8', '--block-size', '32'];
/** Where servers write all that they say. */
const logFile = process.env['ENGRAFT_TEST_VLLM_LOG'];
const startMs = 900_000;
const pollMs = 500;
const keptLogChars = 4_000;

/** Settings that a test may change. */
export interface VllmChanges {
  readonly port?: number;
  readonly flags?: readonly string[];
  readonly variables?: Readonly<Record<string, string>>;
}

export interface VllmServer {
  readonly url: string;
  readonly port: number;
  /** Resolves when it serves. Rejects with the end of its log if it ends before. */
  readonly ready: Promise<void>;
  /** The exit status, once it has ended. */
  readonly exited: Promise<number | null>;
  /** SIGKILL, to it and to its engine. */
  kill(): Promise<void>;
}

/** Starts a server on a checkpoint, which names itself `served`. `ready` says when it can be asked. */
export async function startVllm(modelDir: string, maxCpuLoras: number, changes: VllmChanges = {}): Promise<VllmServer> {
  const port = changes.port ?? (await freePort());
  const url = `http://127.0.0.1:${port}`;
  const place = ['--host', '127.0.0.1', '--port', String(port), '--model', modelDir, '--served-model-name', 'served'];
  const loading = ['--max-cpu-loras', String(maxCpuLoras), '--lora-target-modules', ...targets];
  const all = [...place, ...flags, ...sizes, ...loading];
  const chosen = changes.flags ?? ['--enable-prompt-tokens-details'];
  const child = spawn(vllmPython ?? 'python3', ['-m', 'vllm.entrypoints.openai.api_server', ...all, ...chosen], {
    env: { ...process.env, ...vllmVariables, ...changes.variables },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, which is killed as a whole.
    detached: true,
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (piece: Buffer) => {
      log = (log + piece.toString()).slice(-keptLogChars);
      if (logFile !== undefined) appendFileSync(logFile, piece);
    });
  }
  const killGroup = (): void => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, 'SIGKILL');
  };
  // A test that fails leaves none behind, and one that takes too long, which the runner ends by SIGTERM.
  process.once('exit', killGroup);
  process.once('SIGTERM', () => process.exit(1));
  const exited = once(child, 'exit').then(([status]) => status as number | null);
  return {
    url,
    port,
    ready: untilHealthy(child, url, () => log),
    exited,
    kill: async () => {
      killGroup();
      await exited;
    },
  };
}

async function untilHealthy(child: ChildProcess, url: string, log: () => string): Promise<void> {
  for (let waitedMs = 0; waitedMs < startMs; waitedMs += pollMs) {
    if (child.exitCode !== null) throw new Error(`vLLM ended with ${child.exitCode}: ${log()}`);
    const isHealthy = await fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isHealthy) return;
    await sleep(pollMs);
  }
  throw new Error(`vLLM did not start: ${log()}`);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
