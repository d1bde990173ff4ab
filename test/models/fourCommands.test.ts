import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { filesIn } from '@engraft/hub/testing/hubFiles.js';
import { startTestHub } from '@engraft/hub/testing/testHub.js';
import { program } from '../crash/serviceProcess.js';

const shipped = fileURLToPath(new URL('../../../models/base', import.meta.url));
const page = new URL('../../../docs/models.md', import.meta.url);

/** The commands of docs/models.md, with other words in them. */
async function documentedCommands(replaced: Readonly<Record<string, string>>): Promise<readonly (readonly string[])[]> {
  const block = /## Four commands\n\n```sh\n([^`]*)```/.exec(await readFile(page, 'utf8'))?.[1] ?? '';
  return block
    .trim()
    .split('\n')
    .map((line) => (line.replace(/\s+#.*$/, '').match(/"[^"]*"|\S+/g) ?? []).slice(2))
    .map((words) => words.map((word) => replaced[word] ?? word.replaceAll('"', '')));
}

test('pull, serve, learn and ask: the four commands of the documentation', async (t) => {
  const hub = await startTestHub();
  const folder = await mkdtemp(path.join(tmpdir(), 'engraft-four-'));
  t.after(async () => {
    await hub.close();
    await rm(folder, { recursive: true });
  });
  hub.put('acme/reader', await filesIn(shipped));
  // The connection breaks on the way.
  const cuts = [4_000_000, 1];
  hub.faults.cutAfter = (length) => (length > 1e6 ? (cuts.shift() ?? null) : null);

  const run = (args: readonly string[]): ChildProcess =>
    spawn(process.execPath, [program, ...args], {
      env: {
        PATH: process.env['PATH'],
        HOME: folder,
        HF_ENDPOINT: hub.endpoint,
        ENGRAFT_DATA_DIR: path.join(folder, 'data'),
        ENGRAFT_LOG_LEVEL: 'warn',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  const output = async (args: readonly string[]): Promise<string> => {
    const child = run(args);
    const ended = once(child, 'exit') as Promise<[number]>;
    const [printed, [status]] = await Promise.all([child.stdout === null ? '' : text(child.stdout), ended]);
    assert.equal(status, 0, args.join(' '));
    return printed;
  };

  const [pull = [], serve = [], learn = [], ask = []] = await documentedCommands({
    'HuggingFaceTB/SmolLM2-135M-Instruct': 'acme/reader',
    'examples/lamp.txt': fileURLToPath(new URL('../../../examples/lamp.txt', import.meta.url)),
  });
  assert.match(await output(pull), /acme\/reader \(main, [0-9a-f]{12}\) is in /);
  assert.deepEqual(cuts, []);

  const service = run([...serve, '--port', '0']);
  const stopped = once(service, 'exit') as Promise<[number | null]>;
  try {
    const lines = createInterface({ input: service.stdout ?? process.stdin });
    const [line] = (await once(lines, 'line')) as [string];
    assert.match(line, /^engraft listening on /);
    await output(learn);
    assert.match(await output(ask), /Mira Voss/);
  } finally {
    service.kill('SIGTERM');
    await stopped;
  }
});
