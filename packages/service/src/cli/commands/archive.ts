import type { Command } from 'commander';
import { listArchives, type RecordedArchive } from '../../archive/listArchives.js';
import { verifyArchives } from '../../archive/verifyArchives.js';
import { readConfig } from '../../config/config.js';
import { formatBytes } from '../../formatBytes.js';
import { formatUsd, print, table } from '../output.js';
import { addPrintOptions, CommandFailure, type PrintOptions, withDatabase } from '../withDatabase.js';

export function addArchiveCommands(program: Command): void {
  const archive = program.command('archive').description('jobs of closed months, in files');

  addPrintOptions(archive.command('list').description('the files, oldest first')).action(
    async (options: PrintOptions) => {
      const archives = await withDatabase(options, listArchives);
      print(options, archives, describe(archives));
    },
  );

  addPrintOptions(
    archive.command('verify').description('compare every file with its record, and all with the ledger'),
  ).action(async (options: PrintOptions) => {
    const { archive: config } = readConfig(options);
    const report = await withDatabase(options, (db) => verifyArchives(db, config.folder));
    const { ok, files, jobs, differences } = report;
    print(options, { ok, files, jobs, differences }, [
      ...differences,
      `${files} files, ${jobs} jobs: ${ok ? 'all are as they were written' : `${differences.length} differences`}`,
    ]);
    if (!ok) throw new CommandFailure(`the archives in ${config.folder} are not as they were written`);
  });
}

function describe(archives: readonly RecordedArchive[]): string[] {
  const head = ['MONTH', 'JOBS', 'TRANSFERS', 'SUM', 'SIZE', 'WRITTEN', 'FILE'];
  const rows = archives.map(({ month, jobs, transfers, amount_microusd, size_bytes, moved_at, file }) => [
    month,
    String(jobs),
    String(transfers),
    formatUsd(amount_microusd),
    formatBytes(size_bytes),
    moved_at.toISOString(),
    file,
  ]);
  return table([head, ...rows]);
}
