import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { CommandFailure } from './withDatabase.js';

/** Reads a text file, compressed (`.gz`) or not. Rejects with `CommandFailure` if it cannot be read. */
export async function readTextFile(file: string): Promise<string> {
  try {
    const bytes = await readFile(file);
    return (file.endsWith('.gz') ? await promisify(gunzip)(bytes) : bytes).toString('utf8');
  } catch (error) {
    throw new CommandFailure(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}
