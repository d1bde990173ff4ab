import { type Command, Option } from 'commander';
import { UsageError } from '../../config/config.js';
import { resolveJob } from '../../jobs/resolveJob.js';
import { parseMicrousd } from '../arguments.js';
import { formatUsd, print } from '../output.js';
import { addPrintOptions, CommandFailure, type PrintOptions, withDatabase } from '../withDatabase.js';

interface ResolveOptions extends PrintOptions {
  readonly chargeMicrousd?: string;
  readonly release?: boolean;
}

export function addJobCommands(program: Command): void {
  const job = program.command('job').description('jobs that need an operator');

  addPrintOptions(
    job
      .command('resolve')
      .argument('<id>')
      .description('settle a job in reconciliation_required: charge an amount, or release its reservation')
      .addOption(new Option('--charge-microusd <n>', 'what is owed').conflicts('release'))
      .option('--release', 'nothing is owed'),
  ).action(async (id: string, options: ResolveOptions) => {
    if (options.chargeMicrousd === undefined && options.release !== true) {
      throw new UsageError('say what is owed: --charge-microusd N or --release');
    }
    const charged_microusd = options.chargeMicrousd === undefined ? 0 : parseMicrousd(options.chargeMicrousd);
    const outcome = await withDatabase(options, (db) => resolveJob(db, id, charged_microusd));
    switch (outcome.kind) {
      case 'not_found':
        throw new CommandFailure(`there is no job '${id}'`);
      case 'wrong_status':
        throw new CommandFailure(`job ${id} is ${outcome.status}: only reconciliation_required is settled by hand`);
      case 'above_reservation':
        throw new CommandFailure(
          `job ${id} reserved ${outcome.reserved_microusd} micro-USD: it cannot be charged more`,
        );
      case 'resolved':
        print(options, { id, status: 'failed', charged_microusd }, [`${id} settled: ${formatUsd(charged_microusd)}`]);
    }
  });
}
