import { projectName, settingBounds, type ProjectSettings } from '@engraft/contract/console';
import type { Command } from 'commander';
import { z } from 'zod';
import { audited } from '../../audit/audited.js';
import { UsageError } from '../../config/config.js';
import { createProject } from '../../projects/createProject.js';
import { listProjects, type Project } from '../../projects/projectQueries.js';
import { setProject } from '../../projects/setProject.js';
import { addOperatorOptions, operatorOf, type OperatorOptions } from '../operatorOptions.js';
import { print, table } from '../output.js';
import {
  addPrintOptions,
  CommandFailure,
  noProject,
  type PrintOptions,
  requireProject,
  withDatabase,
} from '../withDatabase.js';

export function addProjectCommands(program: Command): void {
  const project = program.command('project').description('projects and their settings');

  addOperatorOptions(
    project
      .command('create')
      .argument('<name>')
      .description('make a project')
      .option('--new', 'make the database, too, if there is none'),
  ).action(async (name: string, options: OperatorOptions & { readonly new?: boolean }) => {
    const { error } = projectName.safeParse(name);
    if (error !== undefined) throw new UsageError(`<name> must have ${error.issues[0]?.message}`);
    const operator = operatorOf(options);
    const outcome = await withDatabase(options, (db) =>
      audited(
        db,
        operator,
        (trx) => createProject(trx, { name }),
        (created) => {
          if (created.kind !== 'created') return null;
          const { id } = created.project;
          return { action: 'project.create', project_id: id, target: id, details: { name } };
        },
      ),
    );
    if (outcome.kind === 'name_taken')
      throw new CommandFailure(`there is a project '${name}' already: choose another name`);
    print(options, outcome.project, describe([outcome.project]));
  });

  addPrintOptions(project.command('list').description('list all projects')).action(async (options: PrintOptions) => {
    const projects = await withDatabase(options, listProjects);
    print(options, projects, describe(projects));
  });

  addOperatorOptions(
    project
      .command('set')
      .argument('<name>')
      .argument('<key=value...>', Object.keys(settings.shape).join(', '))
      .description('change settings; the limits take "none"'),
  ).action(async (name: string, assignments: readonly string[], options: OperatorOptions) => {
    const changes = parseSettings(assignments);
    const operator = operatorOf(options);
    const changed = await withDatabase(options, async (db) => {
      const { id } = await requireProject(db, name);
      return audited(
        db,
        operator,
        (trx) => setProject(trx, id, changes),
        ({ kind }) => (kind === 'set' ? { action: 'project.set', project_id: id, target: id, details: changes } : null),
      );
    });
    if (changed.kind === 'not_found') throw noProject(name);
    print(options, changed.project, describe([changed.project]));
  });
}

const whole = ({ min, max }: { readonly min: number; readonly max: number }) =>
  z
    .string()
    .regex(/^\d{1,15}$/, 'must be a whole number of at most 15 digits')
    .transform(Number)
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`));
const limit = (bounds: { readonly min: number; readonly max: number }) =>
  z.union([z.enum(['none', 'null']).transform(() => null), whole(bounds)]);

const settings = z.strictObject({
  monthly_spending_limit_microusd: limit(settingBounds.monthly_spending_limit_microusd).exactOptional(),
  monthly_learning_capacity_microusd: limit(settingBounds.monthly_learning_capacity_microusd).exactOptional(),
  version_retention_days: whole(settingBounds.version_retention_days).exactOptional(),
  requests_per_minute: whole(settingBounds.requests_per_minute).exactOptional(),
});

function parseSettings(assignments: readonly string[]): Partial<ProjectSettings> {
  const pairs = assignments.map((assignment) => {
    const at = assignment.indexOf('=');
    if (at < 1) throw new UsageError(`'${assignment}' must be a setting and its value, such as requests_per_minute=60`);
    return [assignment.slice(0, at), assignment.slice(at + 1)] as const;
  });
  const parsed = settings.safeParse(Object.fromEntries(pairs));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  if (issue?.code === 'unrecognized_keys') {
    const known = Object.keys(settings.shape).join(', ');
    throw new UsageError(`there is no setting '${issue.keys.join("', '")}': use ${known}`);
  }
  const name = issue?.path.join('.') ?? '';
  throw new UsageError(
    `${name}: ${issue?.code === 'invalid_union' ? 'must be a whole number of at most 15 digits, or none' : issue?.message}`,
  );
}

function describe(projects: readonly Project[]): string[] {
  const cell = (value: number | null): string => (value === null ? 'none' : String(value));
  const head = ['ID', 'NAME', 'SPENDING/MONTH', 'LEARNING/MONTH', 'RETENTION', 'REQUESTS/MIN'];
  const rows = projects.map(({ id, name, settings: its }) => [
    id,
    name,
    cell(its.monthly_spending_limit_microusd),
    cell(its.monthly_learning_capacity_microusd),
    `${its.version_retention_days} days`,
    cell(its.requests_per_minute),
  ]);
  return table([head, ...rows]);
}
