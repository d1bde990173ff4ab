import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { TestDatabase } from './testDatabase.js';

/** Runs `work` with the URL of a database without tables, on the server of another one. */
export async function withEmptyDatabase<Result>(
  { owner, url }: TestDatabase,
  work: (url: string) => Promise<Result>,
): Promise<Result> {
  const name = `engraft_test_${randomBytes(6).toString('hex')}`;
  await sql.raw(`create database ${name}`).execute(owner);
  try {
    return await work(url.replace(/[^/?]*(\?|$)/, `${name}$1`));
  } finally {
    await sql.raw(`drop database ${name} with (force)`).execute(owner);
  }
}
