import type { Command } from 'commander';
import { findAdapterStore } from '../../adapterStore/findAdapterStore.js';
import { makeBackup } from '../../backup/makeBackup.js';
import { restoreBackup } from '../../backup/restoreBackup.js';
import { readConfig } from '../../config/config.js';
import { hasDatabase, openInstallation } from '../../startup/installation.js';
import { silentBackup, showBackup, type BackupProgressView } from '../backupProgress.js';
import { engraftVersion } from '../../engraftVersion.js';
import { formatBytes } from '../../formatBytes.js';
import { print } from '../output.js';
import { addPrintOptions, CommandFailure, type PrintOptions, requireDataFolder } from '../withDatabase.js';

export function addBackupCommands(program: Command): void {
  addPrintOptions(
    program
      .command('backup')
      .argument('<file>')
      .description('write the database and all adapters into one file and check it; the service may run meanwhile'),
  ).action(backUp);

  addPrintOptions(
    program
      .command('restore')
      .argument('<file>')
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
async function shown<Result>(
  work: (onProgress: BackupProgressView['update'], signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const view = process.stderr.isTTY ? showBackup(process.stderr) : silentBackup;
  const interrupted = new AbortController();
  const stop = (signal: NodeJS.Signals): void =>
    interrupted.abort(new CommandFailure(`stopped by ${signal}; nothing is left half-done`));
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.once(signal, stop);
  try {
    return await work((progress) => view.update(progress), interrupted.signal);
  } catch (error) {
    throw interrupted.signal.aborted ? (interrupted.signal.reason as unknown) : error;
  } finally {
    view.stop();
    for (const signal of signals) process.removeListener(signal, stop);
  }
}
