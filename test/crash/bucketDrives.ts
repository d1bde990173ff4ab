import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { CrashPoint } from '@engraft/service/testing/crashOrder.js';
import { at, deletion, type Drive, passage, start } from './driveKinds.js';
import type { VersionOf } from './crashTest.js';

/** Crash points that only a service passes whose adapters are in a bucket. */
export type BucketCrashPoint =
  Extract<CrashPoint, `bucket.m${string}` | `upload.${string}` | `copies.${string}`> | 'deletion.object_removed';

/** A question about a version of which this machine has no copy. */
function fetching(): Drive {
  let version: VersionOf | undefined;
  return {
    by: 'work',
    prepare: async (test) => {
      version = await test.version();
      await test.service.kill();
      await rm(path.join(test.dataFolder, 'adapter-copies'), { recursive: true });
      await test.service.start();
    },
    act: (test) => test.ask(version),
  };
}

const mark = 'of/tests/.engraft-adapters';

export const bucketDrives: Readonly<Record<BucketCrashPoint, Drive>> = {
  'bucket.marked': {
    ...start,
    prepare: ({ bucket }) => {
      bucket?.objects.delete(mark);
      return Promise.resolve();
    },
  },
  'upload.object_stored': at([1, 2], passage),
  'copies.folder_made': start,
  'copies.passing_removed': start,
  'copies.fetch_begun': fetching(),
  'copies.file_fetched': at([1, 2], fetching()),
  'copies.fetched': fetching(),
  'copies.cleaned': fetching(),
  'copies.set_aside': deletion,
  'copies.removed': deletion,
  // A backup has copies of its own beside the service's.
  'copies.left': {
    by: 'command',
    args: async (test) => {
      await test.version();
      return ['backup', path.join(test.script_folder, 'backup.tar.gz')];
    },
  },
  'deletion.object_removed': at([1, 2], deletion),
};
