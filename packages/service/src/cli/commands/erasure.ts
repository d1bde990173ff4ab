import type { Command } from 'commander';
import { eraseSubject } from '../../erasure/eraseSubject.js';
import { eraseTenant } from '../../erasure/eraseTenant.js';
import { parseName } from '../arguments.js';
import { addOperatorOptions, operatorOf, type OperatorOptions } from '../operatorOptions.js';
import { print } from '../output.js';
import { CommandFailure, requireProject, withDatabase } from '../withDatabase.js';

interface EraseOptions extends OperatorOptions {
  readonly project: string;
  readonly tenant?: string;
}

const later = 'Workers begin to delete the files of its adapters within five minutes.';

/** `engraft subject erase` and `engraft tenant erase`. Erased data does not come back. */
export function addErasureCommands(program: Command): void {
  const subject = program.command('subject').description('the subjects of projects');
  addOperatorOptions(
    subject
      .command('erase')
      .argument('<subject>')
      .description(
        'erase a subject for good: its versions, its name and the answers of its jobs; charges stay on record',
      )
      .requiredOption('--project <name>', 'the project')
      .option('--tenant <tenant>', "the subject's tenant (the project namespace)"),
  ).action(async (name: string, options: EraseOptions) => {
    const operator = operatorOf(options);
    const tenantId = options.tenant === undefined ? null : parseName('tenant', options.tenant);
    parseName('subject', name);
    const outcome = await withDatabase(options, async (db) => {
      const { id: projectId } = await requireProject(db, options.project);
      return eraseSubject(db, operator, { project_id: projectId, tenant_id: tenantId, name });
    });
    if (outcome.kind === 'not_found') throw noSubject(name, options);
    const { versions, jobs } = outcome.erased;
    print(options, { subject_id: name, tenant_id: tenantId, versions, jobs }, [
      `${name} is erased, with ${versions} versions and what was kept of ${jobs} jobs. ${later}`,
    ]);
  });

  const tenant = program.command('tenant').description('the tenants of projects');
  addOperatorOptions(
    tenant
      .command('erase')
      .argument('<tenant>')
      .description('erase a tenant for good: its subjects, its jobs and its name; and revoke its keys')
      .requiredOption('--project <name>', 'the project'),
  ).action(async (tenantId: string, options: EraseOptions) => {
    const operator = operatorOf(options);
    parseName('tenant', tenantId);
    const outcome = await withDatabase(options, async (db) => {
      const { id: projectId } = await requireProject(db, options.project);
      return eraseTenant(db, operator, { project_id: projectId, tenant_id: tenantId });
    });
    if (outcome.kind === 'not_found')
      throw new CommandFailure(`project '${options.project}' has nothing of a tenant '${tenantId}'`);
    const { subjects, versions, jobs, keys } = outcome.erased;
    print(options, { tenant_id: tenantId, subjects, versions, jobs, keys }, [
      `${tenantId} is erased: ${subjects} subjects with ${versions} versions, what was kept of ${jobs} jobs, ` +
        `${keys} keys. ${later}`,
    ]);
  });
}

function noSubject(name: string, { project, tenant }: EraseOptions): CommandFailure {
  const place =
    tenant === undefined ? `; --tenant names the tenant of a tenant's subject` : ` under the tenant '${tenant}'`;
  return new CommandFailure(`project '${project}' has no subject '${name}'${place}`);
}
