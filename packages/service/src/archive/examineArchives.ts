import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { ArchiveConfig } from '../config/archiveConfig.js';
import type { RecordedArchive } from './listArchives.js';

/** The most faults that are told one by one. */
const maxTold = 3;

/**
 * Looks whether every recorded file is there and has its size, which is soon done. Returns what it found, or `null` if
 * nothing is archived, nor shall be. Throws an error that says what is wrong.
 */
export async function examineArchives(
  archives: readonly RecordedArchive[],
  { folder, afterMonths }: ArchiveConfig,
): Promise<string | null> {
  if (archives.length === 0) return afterMonths === null ? null : `none in ${folder} yet`;
  const files = `${archives.length} file${archives.length === 1 ? '' : 's'}`;
  await stat(folder).catch((error: unknown) => {
    throw new Error(`${folder}, which should have ${files}, cannot be read: ${reasonOf(error)}`);
  });
  const faults: string[] = [];
  for (const archive of archives) {
    const fault = await faultOf(archive, folder);
    if (fault !== null) faults.push(`${archive.file} ${fault}`);
  }
  if (faults.length === 0) return `${files} in ${folder}, in size as written: \`engraft archive verify\` reads them`;
  const more = faults.length > maxTold ? [`and ${faults.length - maxTold} more`] : [];
  throw new Error(`of ${files} in ${folder}, ${[...faults.slice(0, maxTold), ...more].join('; ')}`);
}

async function faultOf({ file, size_bytes }: RecordedArchive, folder: string): Promise<string | null> {
  try {
    const found = await stat(path.join(folder, file));
    if (!found.isFile()) return 'is not a file';
    return found.size === size_bytes ? null : `has ${found.size} bytes instead of ${size_bytes}`;
  } catch (error) {
    return `cannot be read: ${reasonOf(error)}`;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
