import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Node.js cannot create a named pipe. Debian and macOS have this program for it, whatever `PATH` says. */
const mkfifo = '/usr/bin/mkfifo';

export const canMakeNamedPipe = existsSync(mkfifo);

/** For a test that needs a named pipe: it is skipped, and says why, where none can be made. */
export const needsNamedPipe = { skip: canMakeNamedPipe ? false : `${mkfifo} is missing` };

/** Creates a named pipe at this path. */
export function makeNamedPipe(path: string): void {
  execFileSync(mkfifo, [path]);
}
