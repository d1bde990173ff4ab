import type { Command } from 'commander';
import { expireVersion } from '../../versions/expireVersion.js';
import { print } from '../output.js';
import { addPrintOptions, CommandFailure, type PrintOptions, withDatabase } from '../withDatabase.js';

export function addVersionCommands(program: Command): void {
  const version = program.command('version').description('saved adapter versions');

  addPrintOptions(version.command('expire').argument('<id>').description("end a version's retention now")).action(
    async (id: string, options: PrintOptions) => {
      const outcome = await withDatabase(options, (db) => expireVersion(db, id));
      if (outcome.kind === 'not_found') throw new CommandFailure(`there is no version '${id}'`);
      const { expires_at } = outcome;
      print(options, { id, expires_at }, [`${id} expired ${expires_at.toISOString()}`]);
    },
  );
}
