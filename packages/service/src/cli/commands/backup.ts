import type { Command } from 'commander';
import { findAdapterStore } from '../../adapterStore/findAdapterStore.js';
import { makeBackup } from '../../backup/makeBackup.js';
import { restoreBackup } from '../../backup/restoreBackup.js';
import { readConfig } from '../../config/config.js';
import { hasDatabase, openInstallation } from '../../startup/installation.js';
import { notEmpty } from '../arguments.js';
import { silentBackup, showBackup, type BackupProgressView } from '../backupProgress.js';
import { engraftVersion } from '../../engraftVersion.js';
import { formatBytes } from '../../formatBytes.js';
import { print } from '../output.js';
import { untilInterrupted } from '../untilInterrupted.js';
import { addPrintOptions, CommandFailure, type PrintOptions, requireDataFolder } from '../withDatabase.js';

export function addBackupCommands(program: Command): void {
  addPrintOptions(
    program
      .command('backup')
      .argument('<file>', 'the file to write', notEmpty('<file>'))
      .description('write the database and all adapters into one file and check it; the service may run meanwhile'),
  ).action(backUp);

  addPrintOptions(
    program
      .command('restore')
      .argument('<file>', 'the backup', notEmpty('<file>'))
      .description('make a data folder from a backup; the folder must be empty or missing'),
  ).action(restore);
}

async function backUp(file: string, options: PrintOptions): Promise<void> {
  const config = readConfig(options);
  if (!(await hasDatabase(config))) {
    throw new CommandFailure(`there is no database in ${config.dataFolder} (--data, ENGRAFT_DATA_DIR) to back up`);
  }
  await requireDataFolder(config);
  const { dataFolder } = config;
  const report = await shown(async (onProgress, signal) => {
    const installation = await openInstallation(config, { maxConnections: 4 });
    const { db } = installation;
    try {
      const store = await findAdapterStore(db, config);
      const backup = { db, dataFolder, store, file, engraft_version: engraftVersion, onProgress, signal };
      return await makeBackup(backup).finally(() => store.close());
    } finally {
      await installation.close();
    }
  });
  const { bytes, rows, adapters, missing_adapters, sha256, created_at } = report;
  print(options, { file, bytes, sha256, created_at, rows, adapters, missing_adapters }, [
    `${file}: ${rows} rows, ${adapters} adapters, ${formatBytes(bytes)}, read back and checked`,
    ...missingLines(missing_adapters),
  ]);
}

async function restore(file: string, options: PrintOptions): Promise<void> {
  const { dataFolder, databaseUrl, adapterBucket } = readConfig(options);
  const report = await shown((onProgress, signal) =>
    restoreBackup({ file, dataFolder, databaseUrl, adapterBucket, onProgress, signal }),
  );
  const { created_at, rows, adapters, missing_adapters, migrations, ledger } = report;
  const { ok, differences } = ledger;
  print(
    options,
    { data_folder: dataFolder, created_at, rows, adapters, missing_adapters, migrations, ledger: { ok, differences } },
    [
      `${dataFolder}: as of ${created_at}, ${rows} rows, ${adapters} adapters`,
      ...missingLines(missing_adapters),
      ...(migrations.length === 0 ? [] : [`brought to the newest schema: ${migrations.join(', ')}`]),
      ok ? 'the ledger agrees with its entries' : 'the ledger did not agree with its entries when the backup was made:',
      ...differences,
    ],
  );
}

function missingLines(missing: readonly string[]): string[] {
  if (missing.length === 0) return [];
  return [`${missing.length} adapters of versions are missing or damaged in the store:`, ...missing];
}

/** Shows progress on a terminal. Ctrl-C leaves nothing half-done. */
function shown<Result>(
  work: (onProgress: BackupProgressView['update'], signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const view = process.stderr.isTTY ? showBackup(process.stderr) : silentBackup;
  return untilInterrupted(
    (signal) => work((progress) => view.update(progress), signal),
    (name) => new CommandFailure(`stopped by ${name}; nothing is left half-done`),
  ).finally(() => view.stop());
}
