import type { Command } from 'commander';
import type { Kysely } from 'kysely';
import { readConfig } from '../config/config.js';
import type { Database } from '../db/schema.js';
import { openInstallation } from '../processes/installation.js';
import { findProjectByName, type Project } from '../projects/projectQueries.js';

/** What went wrong is said in one line; exit status 1. */
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

/** Works beside a running service, and without one: an embedded database is then started for this command alone. */
export async function withDatabase<Result>(
  options: DataOptions,
  work: (db: Kysely<Database>) => Promise<Result>,
): Promise<Result> {
  const installation = await openInstallation(readConfig(options), { max_connections: 4 });
  try {
    return await work(installation.db);
  } finally {
    await installation.close();
  }
}

export async function requireProject(db: Kysely<Database>, name: string): Promise<Project> {
  const project = await findProjectByName(db, name);
  if (project === null) throw new CommandFailure(`there is no project '${name}'`);
  return project;
}
