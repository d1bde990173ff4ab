import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';

/** Names a worker in the database: its process, its machine, and its number. */
export function newWorkerId(): string {
  return `${process.pid}:${hostname()}:${randomBytes(4).toString('hex')}`;
}
