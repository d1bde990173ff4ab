import type { Command } from 'commander';
import type { ModelName } from '@engraft/hub';
import { pino } from 'pino';
import { readConfig, UsageError } from '../../config/config.js';
import type { ModelCheck } from '../../models/checkModel.js';
import type { ModelState } from '../../models/checkpointStages.js';
import { formatBytes } from '../../formatBytes.js';
import { notEmpty } from '../arguments.js';
import { print, table } from '../output.js';
import { showPulling, silentPulling } from '../pullProgress.js';
import { untilInterrupted } from '../untilInterrupted.js';
import { addModelImportCommand } from './modelImport.js';
import { addPrintOptions, CommandFailure, type PrintOptions } from '../withDatabase.js';

interface JsonOption {
  readonly json?: boolean;
}

/** `engraft model`: checkpoints from a Hugging Face hub, in the cache that Python's tools share. */
export function addModelCommands(program: Command): void {
  const model = program.command('model').description('checkpoints from a Hugging Face hub or from GGUF files');
  model
    .command('pull')
    .argument('<name>', 'ORG/NAME, or ORG/NAME@REVISION: a branch, a tag or a commit; main by default')
    .description('download a model into the cache of Hugging Face tools; goes on where it was stopped')
    .option('--json', 'print one JSON document')
    .action(pull);
  model
    .command('list')
    .description('list the models in the cache, and say which of them can be served')
    .option('--json', 'print one JSON document')
    .action(list);
  model
    .command('remove')
    .argument('<name>', 'ORG/NAME, or ORG/NAME@REVISION')
    .description('remove a model from the cache; what other revisions share stays')
    .option('--json', 'print one JSON document')
    .action(remove);
  addPrintOptions(
    model
      .command('check')
      .argument('<model>', 'a checkpoint folder, or ORG/NAME of a pulled one', notEmpty('<model>'))
      .description('load a model, let it answer and train a step; say what it takes on this machine'),
  ).action(check);
  addModelImportCommand(model);
}

async function pull(text: string, options: JsonOption): Promise<void> {
  const name = await requireName(text);
  const { weights } = readConfig();
  const { pullModel } = await import('@engraft/hub');
  const { readHubConfig } = await import('../../config/hubConfig.js');
  const { checkpointStages } = await import('../../models/checkpointStages.js');
  const { ownFile } = await import('../../fileLock/ownedFile.js');
  const settings = await readHubConfig();
  const progress = process.stderr.isTTY && options.json !== true ? showPulling(process.stderr) : silentPulling;
  const outcome = await untilInterrupted(
    (signal) =>
      pullModel({
        ...{ settings, name, signal },
        stages: checkpointStages(weights),
        tryLock: ownFile,
        onProgress: progress.update,
        onWaiting: (owner) => process.stderr.write(`${text} is being pulled or removed (${owner}); waiting for that\n`),
      }),
    () => new CommandFailure(`stopped; \`engraft model pull ${text}\` goes on where it stopped`),
  ).finally(() => progress.stop());
  if (outcome.kind === 'refused') throw new CommandFailure(`${text} cannot be served: ${outcome.reason}`);
  const { commit, folder, sizeBytes, downloadedBytes } = outcome;
  print(
    options,
    {
      name: name.id,
      revision: name.revision,
      commit,
      folder,
      size_bytes: sizeBytes,
      downloaded_bytes: downloadedBytes,
    },
    [
      `${name.id} (${name.revision}, ${commit.slice(0, 12)}) is in ${folder}`,
      `${formatBytes(sizeBytes)}, ${formatBytes(downloadedBytes)} of them downloaded now`,
      `engraft serve --model ${text} serves it`,
    ],
  );
}

async function list(options: JsonOption): Promise<void> {
  const { weights } = readConfig();
  const { listCachedModels } = await import('@engraft/hub');
  const { readHubConfig } = await import('../../config/hubConfig.js');
  const { examineModel } = await import('../../models/checkpointStages.js');
  const { cacheFolder } = await readHubConfig();
  const models = await listCachedModels(cacheFolder);
  const listed = [];
  for (const { id, commit, refs, folder, sizeBytes } of models) {
    const state = await examineModel(folder, weights);
    listed.push({
      name: id,
      revision: refs[0] ?? commit,
      commit,
      folder,
      size_bytes: sizeBytes,
      complete: state.kind !== 'incomplete',
      servable: state.kind === 'servable',
      problem: problemOf(state),
    });
  }
  const rows = listed.map(({ name, revision, commit, size_bytes, problem }) => {
    const shown = revision === commit ? commit.slice(0, 12) : revision;
    return [name, shown, commit.slice(0, 12), formatBytes(size_bytes), problem ?? 'can be served'];
  });
  print(
    options,
    listed,
    rows.length === 0 ? [`no models in ${cacheFolder}; \`engraft model pull ORG/NAME\` downloads one`] : table(rows),
  );
}

function problemOf(state: ModelState): string | null {
  switch (state.kind) {
    case 'servable':
      return null;
    case 'incomplete':
      return `not complete, without ${state.missing.join(', ')}`;
    case 'unservable':
      return `cannot be served: ${state.reason}`;
  }
}

async function remove(text: string, options: JsonOption): Promise<void> {
  const name = await requireName(text);
  const { removeModel } = await import('@engraft/hub');
  const { readHubConfig } = await import('../../config/hubConfig.js');
  const { ownFile } = await import('../../fileLock/ownedFile.js');
  const { cacheFolder } = await readHubConfig();
  const onWaiting = (owner: string): boolean =>
    process.stderr.write(`${text} is in use (${owner}); waiting for that\n`);
  const removal = await removeModel(cacheFolder, name, { tryLock: ownFile, onWaiting });
  if (removal.kind === 'missing') {
    const { commits } = removal;
    const others = commits.length === 0 ? '' : `; it has these commits of ${name.id}: ${commits.join(', ')}`;
    throw new CommandFailure(`${text} is not in ${cacheFolder}${others}`);
  }
  const { commit, freedBytes, sharedBytes, otherCommits } = removal;
  print(
    options,
    {
      name: name.id,
      commit,
      freed_bytes: freedBytes,
      shared_bytes: sharedBytes,
      other_commits: otherCommits,
    },
    [
      `${name.id} at ${commit.slice(0, 12)} is removed; ${formatBytes(freedBytes)} are free again`,
      ...otherCommits.map((other) => `${name.id}@${other.slice(0, 12)} stays`),
      ...(sharedBytes === 0 ? [] : [`${formatBytes(sharedBytes)} stay, which other revisions share`]),
    ],
  );
}

async function check(text: string, options: PrintOptions): Promise<void> {
  const { findModelFolder } = await import('../../models/modelFolder.js');
  const { checkModel } = await import('../../models/checkModel.js');
  const found = await findModelFolder(text);
  if (found.kind === 'missing') throw new CommandFailure(found.advice);
  const outcome = await checkModel(readConfig({ ...options, model: found.folder }), pino({ level: 'silent' }));
  if (outcome.kind === 'failed') {
    print(options, checkDocument(null, outcome.problems), []);
    throw new CommandFailure(`${text} cannot be used: ${outcome.problems.join('; ')}`);
  }
  const { machineMemory } = await import('@engraft/engine');
  const { fitSentences } = await import('../../models/fitSentences.js');
  const { check: model } = outcome;
  print(options, checkDocument(model, model.problems), checkLines(model, fitSentences(model, machineMemory())));
}

function checkDocument(model: ModelCheck | null, problems: readonly string[]): object {
  return {
    architecture: model?.architecture ?? null,
    parameters: model?.parameters ?? null,
    context_length: model?.contextLength ?? null,
    memory_bytes: model === null ? null : model.memory.servingBytes + model.memory.learningBytes,
    tokens_per_second:
      model === null
        ? null
        : { training: Math.round(model.trainedPerSecond), generation: Math.round(model.writtenPerSecond * 10) / 10 },
    seconds_per_1000_chars: model === null ? null : Math.round(model.secondsPerThousandCharacters),
    problems,
  };
}

function checkLines(model: ModelCheck, sentences: readonly string[]): string[] {
  const { architecture, parameters, contextLength, trainedPerSecond, writtenPerSecond, problems } = model;
  const millions = Math.round(parameters / 1e6);
  return [
    `${architecture} with ${millions} million parameters and a context of ${contextLength} tokens.`,
    ...sentences,
    `It writes ${writtenPerSecond.toFixed(1)} tokens a second, and trains ${Math.round(trainedPerSecond)}.`,
    ...problems.map((problem) => `Problem: ${problem}.`),
  ];
}

async function requireName(text: string): Promise<ModelName> {
  const { parseModelName } = await import('@engraft/hub');
  const name = parseModelName(text);
  if (name === null) throw new UsageError(`'${text}' is not the name of a model: use ORG/NAME or ORG/NAME@REVISION`);
  return name;
}
