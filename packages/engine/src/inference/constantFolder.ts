/**
 * Folders for the files of constants while a session is made. They are in the system's folder for temporary files, each
 * with a name of its own.
 */
import { tmpdir } from 'node:os';
import path from 'node:path';
import { partialName, removeLeftovers } from '../support/partial.js';

const folderName = 'engraft-constants';

export function newConstantFolder(): string {
  return partialName(path.join(tmpdir(), folderName));
}

/** Removes what killed processes were writing, see `removeLeftovers`. */
export function removeLeftConstants(): Promise<void> {
  return removeLeftovers(tmpdir(), folderName);
}
