/**
 * A fault injector: all of `engraft serve`, but with a scripted model and teacher. While the folder of
 * `ENGRAFT_TEST_SCRIPT_DIR` has a file named `slow` or `disk-full`, it is so. Waiting work says so in another file. It
 * begins when its parent sends the environment, so that a process may be made ready beforehand, and says over IPC where
 * it listens.
 */
import { access, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { readConfig } from '../config/config.js';
import { runService } from '../startup/runService.js';
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
const scriptFolder = z.string().parse(process.env['ENGRAFT_TEST_SCRIPT_DIR']);
const says = (name: string) => (): Promise<boolean> =>
  access(path.join(scriptFolder, name)).then(
    () => true,
    () => false,
  );
const config = readConfig({ port: '0' });
const { engine, method } = scriptedLearner({
  slow: async (call) => {
    const isSlow = await says('slow')();
    if (isSlow) await writeFile(path.join(scriptFolder, `waiting-${call}`), '');
    return isSlow;
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
