/**
 * A fault injector: `engraft serve` in full, but with a scripted model and teacher. A file named `slow` or `disk-full`
 * in the folder of `ENGRAFT_TEST_SCRIPT_DIR` makes it so for as long as it is there; what waits says so in another
 * file. Begins when its parent sends the environment to begin with, so that a process may be made ready beforehand, and
 * says over IPC where it listens.
 */
import { access, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { readConfig } from '../config/config.js';
import { runService } from '../processes/runService.js';
import { openTeacherServer } from '../teacherServer/teacherServer.js';
import { scriptedLearner } from './scriptedLearner.js';
import { countUnits } from './testApp.js';

const beginning = z.object({ environment: z.record(z.string(), z.string()) });

function toldToBegin(): Promise<void> {
  return new Promise((resolve) => {
    process.on('message', (message) => {
      const told = beginning.safeParse(message);
      if (!told.success) return;
      Object.assign(process.env, told.data.environment);
      resolve();
    });
    process.send?.('ready');
  });
}

await toldToBegin();
const script_folder = z.string().parse(process.env['ENGRAFT_TEST_SCRIPT_DIR']);
const says = (name: string) => (): Promise<boolean> =>
  access(path.join(script_folder, name)).then(
    () => true,
    () => false,
  );
const config = readConfig({ port: '0' });
const { engine, method } = scriptedLearner({
  slow: async (call) => {
    const is_slow = await says('slow')();
    if (is_slow) await writeFile(path.join(script_folder, `waiting-${call}`), '');
    return is_slow;
  },
  disk_full: says('disk-full'),
  elsewhere: config.teacher === null ? null : openTeacherServer(config.teacher, { attempts: 1 }),
});
await runService(
  config,
  { api: true, worker: true },
  (url) => process.send?.({ listening: url }),
  () =>
    Promise.resolve({
      kind: 'loaded',
      meter: { countTokens: countUnits, contextLength: 4096 },
      engine: { engine, teachingAdapter: null, method: () => Promise.resolve(method) },
    }),
);
process.disconnect();
