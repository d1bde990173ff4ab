import { existsSync } from 'node:fs';
import path from 'node:path';
import cliProgress from 'cli-progress';
import type { Command } from 'commander';
import type { ImportedModel, ImportProgress } from '@engraft/engine';
import { UsageError } from '../../config/config.js';
import { notEmpty } from '../arguments.js';
import { print } from '../output.js';
import { readTextFile } from '../textFile.js';
import { untilInterrupted } from '../untilInterrupted.js';
import { CommandFailure } from '../withDatabase.js';

interface ModelImportOptions {
  readonly out?: string;
  readonly f16?: boolean;
  readonly chatTemplate?: string;
  readonly json?: boolean;
}

/** Adds `import` to the command group `model`. */
export function addModelImportCommand(model: Command): void {
  model
    .command('import')
    .description('make a checkpoint folder from a GGUF file: a Llama, Mistral, Qwen2 or Qwen3')
    .argument('<file>', 'the file, in the format of llama.cpp', notEmpty('<file>'))
    .option('--out <dir>', 'a new folder; by default beside the file, with its name')
    .option('--f16', 'round all weights to F16, which takes half the room')
    .option('--chat-template <file>', 'a Jinja template in place of the one in the file')
    .option('--json', 'print one JSON document')
    .action(importModel);
}

async function importModel(file: string, options: ModelImportOptions): Promise<void> {
  // Loaded only here, so that other commands start faster.
  const { importFolder, importGguf } = await import('@engraft/engine');
  const { chatTemplate } = options;
  const folder = options.out === undefined ? importFolder(file) : path.resolve(options.out);
  if (folder === path.resolve(file) && existsSync(file)) {
    throw new UsageError(`the name of ${file} does not end in .gguf, so --out must name the folder to make`);
  }
  const progress = showProgress();
  const model = await untilInterrupted(
    async (signal) =>
      importGguf({
        file,
        folder,
        precision: options.f16 === true ? 'F16' : 'exact',
        ...(chatTemplate === undefined ? {} : { chatTemplate: await readTextFile(chatTemplate) }),
        onProgress: progress.update,
        signal,
      }),
    () => new CommandFailure('stopped; nothing was written'),
  ).finally(() => progress.stop());
  print(options, jsonOf(model), linesOf(file, model));
}

interface ProgressView {
  readonly update: (progress: ImportProgress) => void;
  readonly stop: () => void;
}

/** Shows a bar on a terminal, in megabytes of the file; elsewhere nothing. */
function showProgress(): ProgressView {
  const bar = new cliProgress.SingleBar(
    {
      format: '{bar} {value} of {total} MB, {eta_formatted} left',
      ...{ stream: process.stderr, noTTYOutput: false, hideCursor: true, clearOnComplete: true, fps: 5 },
    },
    cliProgress.Presets.shades_classic,
  );
  let started = false;
  return {
    update: ({ done, total }) => {
      if (!started) bar.start(megabytes(total), 0);
      started = true;
      bar.update(megabytes(done));
    },
    stop: () => bar.stop(),
  };
}

function jsonOf({ folder, architecture, parameters, contextLength, tensorTypes, weightBytes }: ImportedModel): object {
  return {
    ...{ folder, architecture, parameters },
    context_length: contextLength,
    tensor_types: tensorTypes,
    weight_bytes: weightBytes,
  };
}

function linesOf(
  file: string,
  { folder, architecture, parameters, contextLength, weightBytes }: ImportedModel,
): string[] {
  const millions = (parameters / 1e6).toFixed(parameters < 1e7 ? 1 : 0);
  return [
    `${path.basename(file)}: ${architecture}, ${millions} million parameters, ${contextLength} tokens of context`,
    `written: ${folder} (${megabytes(weightBytes)} MB)`,
    `serve it: ENGRAFT_MODEL_DIR=${quoted(folder)} engraft serve`,
  ];
}

function megabytes(bytes: number): number {
  return Math.ceil(bytes / 1e6);
}

/** Quotes a folder so that a shell reads it as one word. */
function quoted(folder: string): string {
  return /^[\w./~+@%:,=-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", String.raw`'\''`)}'`;
}
