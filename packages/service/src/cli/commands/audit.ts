import { type Command, Option } from 'commander';
import { type AuditAction, auditActions } from '../../audit/audited.js';
import { type AuditEventQuery, type ListedAuditEvent, listAuditEvents } from '../../audit/listAuditEvents.js';
import { parseLimit, parseWholeNumber } from '../arguments.js';
import { print, table } from '../output.js';
import { addPrintOptions, type PrintOptions, requireProject, withDatabase } from '../withDatabase.js';

interface ListOptions extends PrintOptions {
  readonly project?: string;
  readonly action?: AuditAction;
  readonly before?: string;
  readonly limit: string;
}

export function addAuditCommands(program: Command): void {
  const audit = program.command('audit').description('what operators changed');

  addPrintOptions(
    audit
      .command('list')
      .description('who changed what, when and why; newest first')
      .option('--project <name>', 'list events of this project only')
      .addOption(new Option('--action <action>', 'list events of this kind only').choices(auditActions))
      .option('--before <id>', 'list events with a lower number than this')
      .option('--limit <n>', 'the number of events to list', '50'),
  ).action(async (options: ListOptions) => {
    const { action, before } = options;
    const query: AuditEventQuery = {
      limit: parseLimit(options.limit),
      ...(action === undefined ? {} : { action }),
      ...(before === undefined ? {} : { before: parseWholeNumber('--before', before) }),
    };
    const events = await withDatabase(options, async (db) => {
      if (options.project === undefined) return listAuditEvents(db, query);
      const { id } = await requireProject(db, options.project);
      return listAuditEvents(db, { ...query, project_id: id });
    });
    print(options, events, describe(events));
  });
}

function describe(events: readonly ListedAuditEvent[]): string[] {
  const head = ['ID', 'TIME', 'ACTION', 'BY', 'PROJECT', 'TARGET', 'REASON'];
  const rows = events.map(({ id, occurred_at, action, actor, project, target, reason }) => [
    String(id),
    occurred_at.toISOString(),
    action,
    actor,
    project ?? '-',
    target,
    reason ?? '-',
  ]);
  return table([head, ...rows]);
}
