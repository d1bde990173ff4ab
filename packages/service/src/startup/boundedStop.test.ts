import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';

const module = new URL('./boundedStop.js', import.meta.url).href;

/** A process of its own that stops these parts. */
async function stopInProcess(withinMs: number, parts: string): Promise<{ status: number | null; log: string }> {
  const script = `
    import pino from ${JSON.stringify(import.meta.resolve('pino'))};
    import { boundStop } from ${JSON.stringify(module)};
    const stopping = boundStop(${withinMs}, pino(pino.destination({ dest: 2, sync: true })));
    stopping.begin();
    stopping.begin();
    ${parts}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'ignore', 'pipe'] });
  const [log, [status]] = await Promise.all([text(child.stderr), once(child, 'exit') as Promise<[number | null]>]);
  return { status, log };
}

test('a stop that hangs says what is left, and ends with exit 1', async () => {
  const { status, log } = await stopInProcess(
    300,
    `const hung = new Promise((resolve) => setTimeout(resolve, 1e8));
     await Promise.all([
       stopping.part('worker', Promise.resolve()),
       stopping.part('api', undefined),
       stopping.part('database', hung),
     ]);`,
  );
  assert.equal(status, 1);
  assert.deepEqual((JSON.parse(log) as { open: unknown }).open, ['database']);
});

test('a process that has stopped does not wait for its bound', async () => {
  const ended = await stopInProcess(1e8, `await stopping.part('worker', Promise.resolve());`);
  assert.deepEqual(ended, { status: 0, log: '' });
});
