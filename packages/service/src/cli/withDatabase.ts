import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import type { Kysely } from 'kysely';
import { type Config, readConfig } from '../config/config.js';
import type { Database } from '../db/schema.js';
import { isAbsence } from '../isAbsence.js';
import { hasDatabase, openInstallation } from '../startup/installation.js';
import { findProjectByName, type Project } from '../projects/projectQueries.js';

/** The message says in one line what went wrong. The exit status is 1. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
}

export interface DataOptions {
  readonly data?: string;
}

export interface PrintOptions extends DataOptions {
  readonly json?: boolean;
}

export function addDataOption(command: Command): Command {
  return command.option('--data <dir>', 'the data folder (ENGRAFT_DATA_DIR, or .engraft)');
}

/** For commands that print data. */
export function addPrintOptions(command: Command): Command {
  return addDataOption(command).option('--json', 'print one JSON document');
}

/**
 * Works beside a running service, or without one. Then it starts an embedded database for this command alone. If there
 * is none yet, it asks on a terminal whether to make one, and refuses a script, since a mistyped folder must not become
 * a new installation.
 * @param options `new` says yes beforehand
 */
export async function withDatabase<Result>(
  options: DataOptions & { readonly new?: boolean },
  work: (db: Kysely<Database>) => Promise<Result>,
): Promise<Result> {
  const config = readConfig(options);
  if (options.new !== true && !(await hasDatabase(config))) await askForNewDatabase(config);
  const installation = await openInstallation(config, { maxConnections: 4 });
  try {
    return await work(installation.db);
  } finally {
    await installation.close();
  }
}

async function askForNewDatabase({ dataFolder }: Config): Promise<void> {
  const missing = `there is no database in ${dataFolder} (--data, ENGRAFT_DATA_DIR)`;
  if (process.stdin.isTTY && process.stderr.isTTY) {
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    const answer = await terminal.question(`${missing}. Make one? [y/N] `).finally(() => terminal.close());
    if (/^y(es)?$/i.test(answer.trim())) return;
  }
  throw new CommandFailure(`${missing}: \`engraft serve\` makes one, and so does \`engraft project create --new\``);
}

/** For commands that read adapters. With a database elsewhere, a mistyped folder would only look empty. */
export async function requireDataFolder({ dataFolder }: Config): Promise<void> {
  const found = await stat(dataFolder).catch((error: unknown) => {
    if (isAbsence(error)) return null;
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(`the data folder ${dataFolder} (--data, ENGRAFT_DATA_DIR) cannot be used: ${why}`);
  });
  if (found?.isDirectory() === true) return;
  throw new CommandFailure(`there is no data folder ${dataFolder} (--data, ENGRAFT_DATA_DIR)`);
}

export async function requireProject(db: Kysely<Database>, name: string): Promise<Project> {
  const project = await findProjectByName(db, name);
  if (project === null) throw noProject(name);
  return project;
}

export function noProject(name: string): CommandFailure {
  return new CommandFailure(`there is no project '${name}'; \`engraft project list\` lists all`);
}
