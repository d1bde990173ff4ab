import { mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { importingPrefix } from '../../adapterStore/adapterStore.js';
import { findAdapterStore } from '../../adapterStore/findAdapterStore.js';
import { recordImport } from '../../adapterStore/keptAdapters.js';
import { audited } from '../../audit/audited.js';
import { readConfig } from '../../config/config.js';
import { exportSubject, type ExportOutcome } from '../../moving/exportSubject.js';
import { importSubject, type ImportOutcome } from '../../moving/importSubject.js';
import { readSubjectFile } from '../../moving/readSubjectFile.js';
import { engraftVersion } from '../../engraftVersion.js';
import { notEmpty, parseName } from '../arguments.js';
import { addOperatorOptions, operatorOf, type OperatorOptions } from '../operatorOptions.js';
import { formatBytes } from '../../formatBytes.js';
import { formatUsd, print } from '../output.js';
import {
  addPrintOptions,
  CommandFailure,
  type PrintOptions,
  requireDataFolder,
  requireProject,
  withDatabase,
} from '../withDatabase.js';

interface SubjectOptions extends PrintOptions {
  readonly project: string;
  readonly tenant?: string;
}

interface ExportOptions extends SubjectOptions {
  readonly all?: boolean;
}

interface ImportOptions extends SubjectOptions, OperatorOptions {
  readonly as?: string;
}

export function addSubjectCommands(program: Command): void {
  const exporting = program.command('export').description('write a file for another installation');
  addSubjectOptions(
    exporting
      .command('subject')
      .argument('<name>')
      .argument('<file>', 'the file to write', notEmpty('<file>'))
      .description('write the active version of a subject, with its adapter, into a file')
      .option('--all', 'write all retained versions of the same base model'),
  ).action(runExport);

  const importing = program.command('import').description('read a file from another installation');
  addImportOptions(
    importing
      .command('subject')
      .argument('<file>', 'the exported subject', notEmpty('<file>'))
      .description(
        'make versions from an exported subject; its active one becomes active if the subject here uses base',
      )
      .option('--as <name>', 'the name of the subject here'),
  ).action(runImport);
}

function addSubjectOptions(command: Command): Command {
  return addPrintOptions(withSubject(command));
}

function addImportOptions(command: Command): Command {
  return addOperatorOptions(withSubject(command));
}

function withSubject(command: Command): Command {
  return command
    .requiredOption('--project <name>', 'the project')
    .option('--tenant <tenant>', 'the tenant, if it has one');
}

async function runExport(name: string, file: string, options: ExportOptions): Promise<void> {
  const config = readConfig(options);
  const tenantId = options.tenant === undefined ? null : parseName('tenant', options.tenant);
  const outcome = await withDatabase(options, async (db) => {
    await requireDataFolder(config);
    const { id: projectId } = await requireProject(db, options.project);
    const subject = {
      project_id: projectId,
      tenant_id: tenantId,
      name,
      all: options.all === true,
      file,
      engraft_version: engraftVersion,
    };
    const store = await findAdapterStore(db, config);
    return exportSubject(db, store, subject).finally(() => store.close());
  });
  if (outcome.kind !== 'exported') throw new CommandFailure(exportRefusal(outcome, name, file, options.project));
  const { bytes, description } = outcome;
  const { base_model_hash, active_version_id, versions } = description;
  const ids = versions.map(({ id }) => id);
  print(options, { file, bytes, base_model_hash, active_version: active_version_id, versions: ids }, [
    `${file}: ${ids.length === 1 ? 'version' : 'versions'} ${ids.join(', ')}, ${formatBytes(bytes)}`,
  ]);
}

function exportRefusal(
  outcome: Exclude<ExportOutcome, { kind: 'exported' }>,
  name: string,
  file: string,
  project: string,
): string {
  switch (outcome.kind) {
    case 'not_found':
      return `project '${project}' has no subject '${name}'; --tenant names the tenant of a tenant's subject`;
    case 'uses_base':
      return `subject '${name}' has no active version that is retained, so there is nothing to export`;
    case 'model_unknown':
      return `it is not known on which base model the active version of '${name}' was trained: start \`engraft serve\`, or a worker, once`;
    case 'file_exists':
      return `${file} is there already: name another file`;
    case 'adapter_damaged':
      return `the adapter of version ${outcome.version_id} is damaged or missing: put its files back into the store first`;
  }
}

async function runImport(file: string, options: ImportOptions): Promise<void> {
  const config = readConfig(options);
  const tenantId = options.tenant === undefined ? null : parseName('tenant', options.tenant);
  const operator = operatorOf(options);
  const outcome = await withDatabase(options, async (db) => {
    await requireDataFolder(config);
    const { id: projectId } = await requireProject(db, options.project);
    const store = await findAdapterStore(db, config);
    const staging = await mkdtemp(path.join(store.staging, importingPrefix));
    try {
      const read = await readSubjectFile(file, staging);
      const name = parseName('subject', options.as ?? read.description.name);
      await recordImport(db, [...read.adapters.keys()]);
      return await audited(
        db,
        operator,
        (trx) => importSubject(trx, store, { ...read, project_id: projectId, tenant_id: tenantId, name }),
        (imported) =>
          imported.kind === 'imported'
            ? {
                action: 'subject.import',
                project_id: projectId,
                target: name,
                details: { tenant_id: tenantId, versions: imported.versions.map(({ id }) => id) },
              }
            : null,
      );
    } finally {
      await rm(staging, { recursive: true, force: true });
      await store.close();
    }
  });
  if (outcome.kind !== 'imported') throw new CommandFailure(importRefusal(outcome, options.project));
  const { versions, activated } = outcome;
  print(options, { versions, active_version: activated }, [
    ...versions.map(({ id, exported_id }) => `${id}, which was ${exported_id}`),
    activated === null
      ? 'none is active: the subject keeps the version that it uses; POST /v1/adapters/activate changes that'
      : `${activated} is active`,
  ]);
}

function importRefusal(outcome: Exclude<ImportOutcome, { kind: 'imported' }>, project: string): string {
  switch (outcome.kind) {
    case 'model_unknown':
      return 'it is not known which base model this installation has: start `engraft serve`, or a worker, once';
    case 'another_model':
      return `the subject was trained on another base model than this installation has (${outcome.base_model_hash}): serve that model here (ENGRAFT_MODEL_DIR)`;
    case 'already_there':
      return `the subject has this adapter already, as version ${outcome.version_id}`;
    case 'insufficient_credits':
      return `project '${project}' has less than the ${formatUsd(outcome.needed_microusd)} of the first day of hosting: \`engraft credit grant\` adds some`;
  }
}
