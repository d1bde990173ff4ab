import { jobKind, jobStatuses, type JobKind, type JobStatus } from '@engraft/contract';
import { type Command, Option } from 'commander';
import { audited } from '../../audit/audited.js';
import { UsageError } from '../../config/config.js';
import { cancelJob } from '../../jobs/cancelJob.js';
import { listOperatorJobs, type OperatorJob, readOperatorJob } from '../../jobs/operatorJobs.js';
import { resolveJob } from '../../jobs/resolveJob.js';
import { parseLimit, parseMicrousd } from '../arguments.js';
import { addOperatorOptions, operatorOf, type OperatorOptions } from '../operatorOptions.js';
import { formatUsd, print, table } from '../output.js';
import { addPrintOptions, CommandFailure, type PrintOptions, requireProject, withDatabase } from '../withDatabase.js';

interface ListOptions extends PrintOptions {
  readonly project?: string;
  readonly status?: readonly JobStatus[];
  readonly kind?: JobKind;
  readonly limit: string;
}

interface ResolveOptions extends OperatorOptions {
  readonly chargeMicrousd?: string;
  readonly release?: boolean;
}

export function addJobCommands(program: Command): void {
  const job = program.command('job').description('jobs of all projects, for operators');

  addPrintOptions(
    job
      .command('list')
      .description('list jobs, newest first')
      .option('--project <name>', 'list jobs of this project only')
      .addOption(new Option('--status <status...>', 'list jobs in these states only').choices(jobStatuses))
      .addOption(new Option('--kind <kind>', 'list jobs of this kind only').choices(jobKind.options))
      .option('--limit <n>', 'the number of jobs to list', '50'),
  ).action(list);

  addPrintOptions(
    job
      .command('show')
      .argument('<id>')
      .description('show a job, without what its caller sent and what the model answered'),
  ).action(show);

  addOperatorOptions(
    job
      .command('cancel')
      .argument('<id>')
      .description('end a waiting or running job without charge; within seconds its worker stops working on it'),
  ).action(cancel);

  addOperatorOptions(
    job
      .command('resolve')
      .argument('<id>')
      .description('settle a job in reconciliation_required: charge an amount, or release its reservation')
      .addOption(new Option('--charge-microusd <n>', 'charge this amount').conflicts('release'))
      .option('--release', 'charge nothing'),
  ).action(resolve);
}

async function list({ project, status, kind, limit, ...options }: ListOptions): Promise<void> {
  const query = {
    limit: parseLimit(limit),
    ...(status === undefined ? {} : { statuses: status }),
    ...(kind === undefined ? {} : { kind }),
  };
  const jobs = await withDatabase(options, async (db) =>
    listOperatorJobs(
      db,
      project === undefined ? query : { ...query, project_id: (await requireProject(db, project)).id },
    ),
  );
  const head = ['ID', 'PROJECT', 'TENANT', 'SUBJECT', 'KIND', 'STATUS', 'PHASE', 'ERROR', 'CREATED'];
  const rows = jobs.map((each) => [
    each.id,
    each.project,
    each.tenant_id ?? '-',
    each.subject_id,
    each.kind,
    each.status,
    each.phase,
    each.error_code ?? '-',
    each.created_at.toISOString(),
  ]);
  print(options, jobs, table([head, ...rows]));
}

async function show(id: string, options: PrintOptions): Promise<void> {
  const job = await withDatabase(options, (db) => readOperatorJob(db, id));
  if (job === null) throw noJob(id);
  print(options, job, describe(job));
}

function describe({ usage, billing, execution, teacher_calls, phases, error, ...job }: OperatorJob): string[] {
  const { worker_id, lease_expires_at, attempts, training_steps } = execution;
  const lines = {
    ...job,
    error: error?.code ?? null,
    reserved: formatUsd(billing.reserved_microusd),
    charged: `${formatUsd(billing.charged_microusd)}${billing.settled ? '' : ', not settled'}`,
    ...usage,
    worker: worker_id,
    lease_expires_at: lease_expires_at?.toISOString() ?? null,
    attempts,
    training_steps,
    finished_phases: phases.map(({ phase }) => phase).join(' ') || null,
    teacher_calls: `${teacher_calls.made}, ${teacher_calls.without_receipt} of them without a receipt`,
    teacher_receipts: `${teacher_calls.input_tokens} tokens read, ${teacher_calls.output_tokens} written`,
  };
  return table(Object.entries(lines).map(([name, value]) => [`${name}:`, String(value ?? '-')]));
}

async function cancel(id: string, options: OperatorOptions): Promise<void> {
  const operator = operatorOf(options);
  const outcome = await withDatabase(options, (db) =>
    audited(
      db,
      operator,
      (trx) => cancelJob(trx, id),
      (cancelled) =>
        cancelled.kind === 'cancelled' || cancelled.kind === 'to_be_resolved'
          ? {
              action: 'job.cancel',
              project_id: cancelled.project_id,
              target: id,
              details: { was: cancelled.was, outcome: cancelled.kind },
            }
          : null,
    ),
  );
  switch (outcome.kind) {
    case 'not_found':
      throw noJob(id);
    case 'wrong_status':
      throw new CommandFailure(
        outcome.status === 'reconciliation_required'
          ? `job ${id} is stopped already, and only its money is open: settle it with \`engraft job resolve ${id}\``
          : `job ${id} cannot be cancelled: it has ended as ${outcome.status}`,
      );
    case 'cancelled':
      print(options, { id, status: 'failed', was: outcome.was }, [`${id} cancelled; nothing is charged`]);
      return;
    case 'to_be_resolved':
      print(options, { id, status: 'reconciliation_required', was: outcome.was }, [
        `${id} is stopped. A teacher elsewhere was asked, and its receipt is missing: settle it with \`engraft job resolve ${id}\``,
      ]);
  }
}

async function resolve(id: string, options: ResolveOptions): Promise<void> {
  if (options.chargeMicrousd === undefined && options.release !== true) {
    throw new UsageError('--charge-microusd N or --release is needed: say what is owed');
  }
  const chargedMicrousd =
    options.chargeMicrousd === undefined ? 0 : parseMicrousd('--charge-microusd', options.chargeMicrousd);
  const operator = operatorOf(options);
  const outcome = await withDatabase(options, (db) =>
    audited(
      db,
      operator,
      (trx) => resolveJob(trx, id, chargedMicrousd),
      (resolved) => {
        if (resolved.kind !== 'resolved') return null;
        const { project_id, reserved_microusd } = resolved;
        return {
          action: 'job.resolve',
          project_id,
          target: id,
          details: { reserved_microusd, charged_microusd: chargedMicrousd },
        };
      },
    ),
  );
  switch (outcome.kind) {
    case 'not_found':
      throw noJob(id);
    case 'wrong_status':
      throw new CommandFailure(
        `job ${id} cannot be settled by hand: it is ${outcome.status}, not reconciliation_required`,
      );
    case 'above_reservation':
      throw new CommandFailure(
        `--charge-microusd must be at most ${outcome.reserved_microusd}, which job ${id} reserved`,
      );
    case 'resolved':
      print(options, { id, status: 'failed', charged_microusd: chargedMicrousd }, [
        `${id} settled: ${formatUsd(chargedMicrousd)}`,
        ...(options.reason === undefined ? ['No reason is recorded: --reason gives one.'] : []),
      ]);
  }
}

function noJob(id: string): CommandFailure {
  return new CommandFailure(`there is no job '${id}'; \`engraft job list\` shows the newest`);
}
