/** The command as a script runs it. Each test file opens a database of its own. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { openTestDatabase, type TestDatabase } from './testDatabase.js';

export const program = fileURLToPath(new URL('../../bin/engraft.js', import.meta.url));

interface CommandResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}
export let database: TestDatabase;
let dataFolder: string;
export async function open(): Promise<void> {
  database = await openTestDatabase();
  dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-cli-'));
}
export async function close(): Promise<void> {
  await database.close();
  await rm(dataFolder, { recursive: true });
}

export const environment = (): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  DATABASE_URL: database.url,
  ENGRAFT_DATA_DIR: dataFolder,
});

export async function engraft(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<CommandResult> {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...environment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit') as Promise<[number]>;
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { status, stdout, stderr };
}

/** One JSON document on standard output and nothing on standard error. */
export async function json<Value>(schema: z.ZodType<Value>, ...args: string[]): Promise<Value> {
  const { status, stdout, stderr } = await engraft([...args, '--json']);
  assert.equal(stderr, '');
  assert.equal(status, 0);
  return schema.parse(JSON.parse(stdout));
}

export async function assertFails(status: number, message: RegExp, ...args: string[]): Promise<void> {
  const result = await engraft(args);
  assert.equal(result.stdout, '');
  assert.match(result.stderr, message);
  assert.equal(result.stderr.trim().split('\n').length, 1, 'one clear line');
  assert.equal(result.status, status);
}

export const settings = z.strictObject({
  monthly_spending_limit_microusd: z.number().nullable(),
  monthly_learning_capacity_microusd: z.number().nullable(),
  version_retention_days: z.number(),
  requests_per_minute: z.number(),
});
export const project = z.strictObject({ id: z.string(), name: z.string(), settings });
export const newKey = z.strictObject({
  id: z.string(),
  secret: z.string(),
  name: z.string(),
  scopes: z.array(z.string()),
  tenant_id: z.string().nullable(),
  expires_at: z.iso.datetime().nullable(),
});
export const listedKey = newKey
  .omit({ secret: true })
  .extend({ created_at: z.iso.datetime(), revoked_at: z.iso.datetime().nullable(), last_used_at: z.null() });
