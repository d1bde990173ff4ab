import type { Command } from 'commander';
import { audited } from '../../audit/audited.js';
import { UsageError } from '../../config/config.js';
import { readBalance } from '../../ledger/accounts.js';
import { grantCredit } from '../../ledger/grantCredit.js';
import { parseUsd } from '../arguments.js';
import { addOperatorOptions, operatorOf, type OperatorOptions } from '../operatorOptions.js';
import { formatUsd, print } from '../output.js';
import { addPrintOptions, type PrintOptions, requireProject, withDatabase } from '../withDatabase.js';

interface GrantOptions extends OperatorOptions {
  readonly project: string;
  readonly usd: string;
}

export function addCreditCommands(program: Command): void {
  const credit = program.command('credit').description('the credit of projects');

  addOperatorOptions(
    credit
      .command('grant')
      .description('give credit to a project')
      .requiredOption('--project <name>', 'the project')
      .requiredOption('--usd <amount>', 'the amount, with at most 6 decimals'),
  ).action(async (options: GrantOptions) => {
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
  });
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
