/**
 * Temporary names for files and folders while they are written, so that a crash leaves nothing incomplete under the
 * final name.
 */
import { randomBytes } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { processState, markPattern, ownMark } from './processMark.js';

/** The suffix of files and folders being written. Earlier versions left out the writer's mark. */
const partialSuffix = new RegExp(`\\.partial-(?:(${markPattern})-)?[0-9a-f]{12}$`);
const leftoverAgeMs = 60 * 60_000;

/** A name beside the file or folder. Rename it when it is complete. */
export function partialName(target: string): string {
  return `${target}.partial-${ownMark()}-${randomBytes(6).toString('hex')}`;
}

/**
 * Removes the leftovers of dead writers from a folder. Nobody here knows whether writers on other machines or in other
 * containers live, so what they wrote to recently stays.
 * @param target the final name of the leftovers, if the folder also holds things of others. By default any name.
 */
export async function removeLeftovers(folder: string, target?: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const suffix = partialSuffix.exec(name);
    if (suffix === null || (target !== undefined && name.slice(0, suffix.index) !== target)) continue;
    const leftover = path.join(folder, name);
    const [, mark] = suffix;
    const fate = mark === undefined ? 'unknown' : processState(mark);
    if (fate === 'running' || (fate === 'unknown' && !(await isOld(leftover)))) continue;
    // A leftover that stays, such as another user's, costs only disk space.
    await rm(leftover, { recursive: true, force: true }).catch(() => undefined);
  }
}

async function isOld(leftover: string): Promise<boolean> {
  // Another process may have removed or renamed it by now.
  const { mtimeMs = Infinity } = (await stat(leftover).catch(() => undefined)) ?? {};
  return mtimeMs < Date.now() - leftoverAgeMs;
}
