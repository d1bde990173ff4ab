/**
 * Folders of files in which constants lie while a session is made: where the system keeps temporary files, each of a
 * name of its own.
 */
import { tmpdir } from 'node:os';
import path from 'node:path';
import { partialName, removeLeftovers } from '../partial.js';

const NAME = 'engraft-constants';

export function newConstantFolder(): string {
  return partialName(path.join(tmpdir(), NAME));
}

/** Removes what processes were writing that were killed, see `removeLeftovers`. */
export function removeLeftConstants(): Promise<void> {
  return removeLeftovers(tmpdir(), NAME);
}
