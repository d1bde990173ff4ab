import type { Command } from 'commander';
import { expireVersion } from '../../versions/expireVersion.js';
import { audited } from '../../audit/audited.js';
import { addOperatorOptions, operatorOf, type OperatorOptions } from '../operatorOptions.js';
import { print } from '../output.js';
import { CommandFailure, withDatabase } from '../withDatabase.js';

export function addVersionCommands(program: Command): void {
  const version = program.command('version').description('saved adapter versions');

  addOperatorOptions(version.command('expire').argument('<id>').description("end a version's retention now")).action(
    async (id: string, options: OperatorOptions) => {
      const operator = operatorOf(options);
      const outcome = await withDatabase(options, (db) =>
        audited(
          db,
          operator,
          (trx) => expireVersion(trx, id),
          (expired) => {
            if (expired.kind === 'not_found' || !expired.changed) return null;
            const { project_id, expires_at } = expired;
            return { action: 'version.expire', project_id, target: id, details: { expires_at } };
          },
        ),
      );
      if (outcome.kind === 'not_found')
        throw new CommandFailure(`there is no version '${id}'; GET /v1/subjects lists those of a project`);
      const { expires_at } = outcome;
      print(options, { id, expires_at }, [`${id} expired ${expires_at.toISOString()}`]);
    },
  );
}
