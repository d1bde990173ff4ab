/**
 * A fault injector: a command that a signal stops, and whose clean-up goes on until a line comes. With the argument
 * `short` its work ends at once. Then it waits for one more line.
 */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { untilInterrupted } from '../cli/untilInterrupted.js';

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (line: string): boolean => process.stdout.write(`${line}\n`);

await untilInterrupted(
  async (signal) => {
    if (process.argv[2] === 'short') return;
    say('working');
    await once(signal, 'abort');
    say('cleaning up');
    await lines.next();
    throw new Error('what fails after the signal');
  },
  (name) => new Error(`stopped by ${name}`),
).catch((error: unknown) => say(String(error)));
say('done');
await lines.next();
process.stdin.destroy();
