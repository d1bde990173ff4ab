import type { Command } from 'commander';
import { verifyLedger } from '../../ledger/verifyLedger.js';
import { print } from '../output.js';
import { addPrintOptions, CommandFailure, type PrintOptions, withDatabase } from '../withDatabase.js';

export function addLedgerCommands(program: Command): void {
  const ledger = program.command('ledger').description('the record of credit and charges');

  addPrintOptions(
    ledger.command('verify').description('recompute every balance from the entries, and check every rule'),
  ).action(async (options: PrintOptions) => {
    const report = await withDatabase(options, verifyLedger);
    const { ok, projects, transfers, differences } = report;
    print(options, { ok, projects, transfers, differences }, [
      ...differences,
      `${projects} projects, ${transfers} transfers: ${ok ? 'all balances agree' : `${differences.length} differences`}`,
    ]);
    if (!ok) throw new CommandFailure('the ledger does not agree with its entries');
  });
}
