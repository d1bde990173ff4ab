import { type Command, Option } from 'commander';
import type { Kysely } from 'kysely';
import { audited } from '../../audit/audited.js';
import type { Operator } from '../../audit/operator.js';
import { UsageError } from '../../config/config.js';
import type { Database } from '../../db/schema.js';
import { readBalance } from '../../ledger/accounts.js';
import { grantCredit } from '../../ledger/grantCredit.js';
import {
  type HostingRefund,
  type JobRefund,
  refundHosting,
  refundJob,
  type RefundedDays,
} from '../../ledger/refund.js';
import { parseTimestamp, parseUsd } from '../arguments.js';
import { addOperatorOptions, operatorOf, type OperatorOptions } from '../operatorOptions.js';
import { formatUsd, print } from '../output.js';
import { addPrintOptions, CommandFailure, type PrintOptions, requireProject, withDatabase } from '../withDatabase.js';

interface GrantOptions extends OperatorOptions {
  readonly project: string;
  readonly usd: string;
}

interface RefundOptions extends OperatorOptions {
  readonly job?: string;
  readonly usd?: string;
  readonly project?: string;
  readonly hostingSince?: string;
  readonly version?: string;
}

export function addCreditCommands(program: Command): void {
  const credit = program.command('credit').description('the credit of projects');

  addOperatorOptions(
    credit
      .command('grant')
      .description('give credit to a project')
      .requiredOption('--project <name>', 'the project')
      .requiredOption('--usd <amount>', 'the amount, with at most 6 decimals'),
  ).action(grant);

  addOperatorOptions(
    credit
      .command('refund')
      .description('give back what a job, or days of hosting, were charged; once each, and with a --reason')
      .addOption(new Option('--job <id>', 'a job').conflicts(['project', 'hostingSince', 'version']))
      .option('--usd <amount>', 'of a job: a part of its charge (all of it)')
      .option('--project <name>', 'of hosting: the project')
      .option('--hosting-since <timestamp>', 'days of hosting that were charged since then, in ISO 8601')
      .option('--version <id>', 'of hosting: days of this version alone'),
  ).action(refund);
}

async function grant(options: GrantOptions): Promise<void> {
  const amountMicrousd = parseUsd('--usd', options.usd);
  if (amountMicrousd === 0) throw new UsageError('--usd must be more than 0');
  const operator = operatorOf(options);
  const balance = await withDatabase(options, async (db) => {
    const { id } = await requireProject(db, options.project);
    const { kind } = await audited(
      db,
      operator,
      (trx) => grantCredit(trx, { project_id: id, amount_microusd: amountMicrousd, memo: 'granted by an operator' }),
      () => ({ action: 'credit.grant', project_id: id, target: id, details: { amount_microusd: amountMicrousd } }),
    );
    if (kind === 'too_much')
      throw new UsageError(`--usd is too much: at most ${formatUsd(Number.MAX_SAFE_INTEGER)} can be granted in all`);
    return readBalance(db, id);
  });
  const { available_microusd } = balance;
  print(options, { available_microusd }, [`available: ${formatUsd(available_microusd)}`]);
}

async function refund(options: RefundOptions): Promise<void> {
  const { job, usd, project, hostingSince, version } = options;
  const operator = operatorOf(options);
  if (operator.reason === null) throw new UsageError('say why, for the project as well: --reason TEXT');
  const memo = operator.reason;
  if (job !== undefined) {
    const amount = usd === undefined ? {} : { amount_microusd: parseUsd('--usd', usd) };
    if (amount.amount_microusd === 0) throw new UsageError('--usd must be more than 0');
    return refundOneJob(options, operator, { job_id: job, ...amount, memo });
  }
  if (project === undefined || hostingSince === undefined) {
    throw new UsageError('say what to refund: --job ID, or --project NAME with --hosting-since TIMESTAMP');
  }
  if (usd !== undefined) throw new UsageError('--usd is for a job; hosting is refunded by whole days');
  const since = parseTimestamp('--hosting-since', hostingSince);
  await withDatabase(options, async (db) => {
    const { id } = await requireProject(db, project);
    const days = {
      project_id: id,
      charged_since: since,
      memo,
      ...(version === undefined ? {} : { version_id: version }),
    };
    const refunded = await refundAllDays(db, operator, days);
    const { available_microusd } = await readBalance(db, id);
    print(options, { ...refunded, available_microusd }, [
      `refunded:  ${formatUsd(refunded.refunded_microusd)}, for ${refunded.days} days of hosting`,
      `available: ${formatUsd(available_microusd)}`,
    ]);
  });
}

async function refundOneJob(options: RefundOptions, operator: Operator, jobRefund: JobRefund): Promise<void> {
  const { job_id } = jobRefund;
  await withDatabase(options, async (db) => {
    const outcome = await audited(
      db,
      operator,
      (trx) => refundJob(trx, jobRefund),
      (refunded) => {
        if (refunded.kind !== 'refunded') return null;
        const { project_id, refunded_microusd } = refunded;
        return { action: 'credit.refund', project_id, target: job_id, details: { refunded_microusd } };
      },
    );
    if (outcome.kind === 'not_found') throw new CommandFailure(`there is no job '${job_id}', or it is archived`);
    if (outcome.kind === 'above_charge') {
      throw new CommandFailure(`job ${job_id} was charged ${formatUsd(outcome.charged_microusd)}: no more is refunded`);
    }
    const { refunded_microusd, project_id } = outcome;
    const wanted = jobRefund.amount_microusd ?? refunded_microusd;
    if (wanted !== refunded_microusd) {
      throw new CommandFailure(`job ${job_id} was refunded before: ${formatUsd(refunded_microusd)}, once and for all`);
    }
    const { available_microusd } = await readBalance(db, project_id);
    print(options, { job_id, refunded_microusd, available_microusd }, [
      `refunded:  ${formatUsd(refunded_microusd)}${outcome.kind === 'refunded' ? '' : ', before'}`,
      `available: ${formatUsd(available_microusd)}`,
    ]);
  });
}

/** Each transaction has an event of its own. */
async function refundAllDays(db: Kysely<Database>, operator: Operator, days: HostingRefund): Promise<RefundedDays> {
  const { project_id, version_id, charged_since } = days;
  let total: RefundedDays = { days: 0, refunded_microusd: 0 };
  for (;;) {
    const some = await audited(
      db,
      operator,
      (trx) => refundHosting(trx, days),
      (refunded) => {
        if (refunded.days === 0) return null;
        const target = version_id ?? project_id;
        return { action: 'credit.refund', project_id, target, details: { ...refunded, charged_since } };
      },
    );
    if (some.days === 0) return total;
    total = { days: total.days + some.days, refunded_microusd: total.refunded_microusd + some.refunded_microusd };
  }
}

export function addBalanceCommand(program: Command): void {
  addPrintOptions(
    program
      .command('balance')
      .description('the available, reserved and spent credit of a project')
      .requiredOption('--project <name>', 'the project'),
  ).action(async (options: PrintOptions & { readonly project: string }) => {
    const { available_microusd, reserved_microusd, spent_microusd } = await withDatabase(options, async (db) =>
      readBalance(db, (await requireProject(db, options.project)).id),
    );
    print(options, { available_microusd, reserved_microusd, spent_microusd }, [
      `available: ${formatUsd(available_microusd)}`,
      `reserved:  ${formatUsd(reserved_microusd)}`,
      `spent:     ${formatUsd(spent_microusd)}`,
    ]);
  });
}
