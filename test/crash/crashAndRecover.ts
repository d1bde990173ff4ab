import type { CrashOrder, CrashPoint } from '@engraft/service/testing/crashOrder.js';
import type { CrashTest, Faults } from './crashTest.js';
import type { Drive } from './driveKinds.js';
import { bucketDrives } from './bucketDrives.js';
import { drives } from './drives.js';

/** A death of a service, or of a command beside it: the boundary at which it dies, and what takes it there. */
export interface Crash {
  readonly order: CrashOrder & { readonly crash_point: CrashPoint };
  readonly drive: Drive;
}

export interface Recovery {
  readonly faults: Faults;
  /**
   * From the beginning of the next start until the service listens, every request that was sent has its receipt, and
   * every job has ended. The process was made ready beforehand: loading its program is not counted.
   */
  readonly recovery_ms: number;
}

/** The points of a first start, in their order. */
export const firstStartPoints: readonly CrashPoint[] = entries()
  .filter(([, { by }]) => by === 'first start')
  .map(([crashPoint]) => crashPoint);

/** All others, each with the passings at which it is to be tried; they may come in any order. */
export const crashes: readonly Crash[] = crashesOf(entries().filter(([, { by }]) => by !== 'first start'));

/** Those of a service whose adapters are in a bucket. */
export const bucketCrashes: readonly Crash[] = crashesOf(Object.entries(bucketDrives) as [CrashPoint, Drive][]);

function entries(): [CrashPoint, Drive][] {
  return Object.entries(drives) as [CrashPoint, Drive][];
}

function crashesOf(driven: readonly (readonly [CrashPoint, Drive])[]): Crash[] {
  return driven.flatMap(([crashPoint, drive]) =>
    (drive.passings ?? [1]).map((passing) => ({ order: { crash_point: crashPoint, passing }, drive })),
  );
}

/** Drives a real service to the point, where it dies, starts it again, and looks for whatever is wrong then. */
export async function crashAndRecover(test: CrashTest, { order, drive }: Crash): Promise<Recovery> {
  const { service } = test;
  if (!service.is_running) await service.start();
  try {
    await drive.prepare?.(test);
    await crash(test, order, drive);
  } finally {
    await drive.repair?.(test);
  }
  await test.ageRemnants();
  const beganMs = performance.now();
  if (!service.is_running && (await service.start()) !== 'listening') throw new Error('the service died again');
  await test.catchUp();
  const recoveryMs = performance.now() - beganMs;
  return { faults: await test.findFaults(), recovery_ms: recoveryMs };
}

async function crash(test: CrashTest, order: CrashOrder, drive: Drive): Promise<void> {
  const { service } = test;
  switch (drive.by) {
    case 'start':
      await service.kill();
      // Jobs that it goes on with may come to the point when it listens already.
      if ((await service.start(order)) === 'listening') await service.died();
      break;
    case 'work':
      await service.arm(order);
      await drive.act(test);
      await service.died();
      break;
    case 'command': {
      const { signal } = await service.command(await drive.args(test), order);
      if (signal !== 'SIGKILL') throw new Error('the command did not come to the crash point');
      break;
    }
    case 'first start':
      throw new Error('a first start is tested by itself');
  }
}
