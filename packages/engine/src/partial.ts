/**
 * What is being written has a temporary name, so that a crash leaves either the whole of it or nothing of its own name.
 */
import { randomBytes } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { fateOf, MARK_PATTERN, ownMark } from './processMark.js';

/** Ends the names of files and folders that are being written. Earlier versions left out the writer's mark. */
const SUFFIX = new RegExp(`\\.partial-(?:(${MARK_PATTERN})-)?[0-9a-f]{12}$`);
const LEFTOVER_AGE_MS = 60 * 60_000;

/** A name beside the file or folder, to be renamed once it is whole. */
export function partialName(target: string): string {
  return `${target}.partial-${ownMark()}-${randomBytes(6).toString('hex')}`;
}

/**
 * Removes what writers that died have left behind in a folder. Of writers on other machines and in other containers
 * nobody here knows whether they live; what these wrote to of late may still be being written.
 * @param target the name of what they wrote, where the folder holds things of others, too; otherwise of anything.
 */
export async function removeLeftovers(folder: string, target?: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const suffix = SUFFIX.exec(name);
    if (suffix === null || (target !== undefined && name.slice(0, suffix.index) !== target)) continue;
    const leftover = path.join(folder, name);
    const [, mark] = suffix;
    const fate = mark === undefined ? 'unknown' : fateOf(mark);
    if (fate === 'running' || (fate === 'unknown' && !(await isOld(leftover)))) continue;
    // One that stays, as another user's does, takes room on the disk, which is no reason to lose what is to be written.
    await rm(leftover, { recursive: true, force: true }).catch(() => undefined);
  }
}

async function isOld(leftover: string): Promise<boolean> {
  // Another process may have removed it by now, or given it its name.
  const { mtimeMs = Infinity } = (await stat(leftover).catch(() => undefined)) ?? {};
  return mtimeMs < Date.now() - LEFTOVER_AGE_MS;
}
