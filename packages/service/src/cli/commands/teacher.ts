import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import type { AdapterReference, EngineHost } from '@engraft/engine';
import type { Prompts } from '@engraft/learning';
import type { Paragraph, ParagraphSplit, ReadingFigures } from '@engraft/evaluation';
import { pino } from 'pino';
import type { FileLock } from '../../fileLock/fileLock.js';
import { parsePositive, parseWholeNumber } from '../arguments.js';
import { print } from '../output.js';
import { showTeacherProgress } from '../teacherProgress.js';
import { readTextFile } from '../textFile.js';
import { untilInterrupted } from '../untilInterrupted.js';
import { CommandFailure } from '../withDatabase.js';

interface TrainOptions {
  readonly model: string;
  readonly data: string;
  readonly out: string;
  readonly from?: string;
  readonly steps: string;
  readonly seed: string;
  readonly questions: string;
  readonly json?: boolean;
}

export function addTeacherCommands(program: Command): void {
  const teacher = program.command('teacher').description('adapters that make a model a better teacher');
  teacher
    .command('train')
    .description('train a teaching adapter on questions that people asked; goes on where it was stopped')
    .requiredOption('--model <dir>', 'the checkpoint folder')
    .requiredOption(
      '--data <file>',
      "paragraphs with questions, in SQuAD's format or one a line; may be compressed (.gz)",
    )
    .requiredOption('--out <dir>', 'the folder that keeps the training and, at the end, `adapter`')
    .option('--from <dir>', 'a teaching adapter to go on from')
    .option('--steps <n>', 'the number of steps, each of four paragraphs', '600')
    .option('--seed <n>', 'the seed of the order of paragraphs and questions', '1')
    .option(
      '--questions <n>',
      'the number to ask before and after, about titles that are not trained on; 0: none',
      '100',
    )
    .option('--json', 'print one JSON document')
    .action(train);
  teacher
    .command('measure')
    .description('ask a checkpoint, with or without a teaching adapter, about paragraphs in its prompt')
    .requiredOption('--model <dir>', 'the checkpoint folder')
    .requiredOption('--data <file>', 'the data of `train`, which keeps some titles apart: those are asked about')
    .option('--adapter <dir>', 'the teaching adapter; by default the checkpoint is asked as it is')
    .option('--questions <n>', 'the number of questions, each about another paragraph', '300')
    .option('--json', 'print one JSON document')
    .action(measure);
}

interface MeasureOptions extends Pick<TrainOptions, 'model' | 'data' | 'questions' | 'json'> {
  readonly adapter?: string;
}

async function measure(options: MeasureOptions): Promise<void> {
  const count = parsePositive('--questions', options.questions);
  const paragraphs = await readParagraphs(options.data);
  const adapter = options.adapter === undefined ? null : await adapterIn('--adapter', path.resolve(options.adapter));
  const { measureReading, splitByTitle } = await import('@engraft/evaluation');
  const { heldOut } = splitByTitle(paragraphs);
  if (heldOut.length === 0)
    throw new CommandFailure(
      `${options.data} has too few titles to ask about: \`train\` keeps one in twenty apart for that`,
    );
  const { engine, prompts } = await openModel(await checkpointIn(options.model));
  try {
    const figures = await measureReading(engine, heldOut, adapter, { prompts, count });
    print(options, figures, [describe(figures)]);
  } finally {
    await engine.close();
  }
}

interface Checkpoint {
  readonly modelDir: string;
  readonly prompts: Prompts;
}

/** Reads the small files of `--model`, so that a wrong name is refused before anything is made. */
async function checkpointIn(model: string): Promise<Checkpoint> {
  const { loadPreset, promptsOf } = await import('@engraft/learning');
  const { shippedPresets } = await import('../../startup/learningMethod.js');
  const { outlineCheckpoint } = await import('@engraft/engine');
  const modelDir = path.resolve(model);
  try {
    await outlineCheckpoint(modelDir);
    return { modelDir, prompts: promptsOf(await loadPreset(modelDir, shippedPresets)) };
  } catch (error) {
    throw new CommandFailure(`--model: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function openModel({ modelDir, prompts }: Checkpoint): Promise<{
  readonly engine: EngineHost;
  readonly prompts: Prompts;
}> {
  const { startEngineHost } = await import('@engraft/engine');
  return { engine: await startEngineHost({ modelDir, logger: pino({ level: 'silent' }) }), prompts };
}

async function train(options: TrainOptions): Promise<void> {
  const steps = parsePositive('--steps', options.steps);
  const seed = parseWholeNumber('--seed', options.seed);
  const questions = parseWholeNumber('--questions', options.questions);
  const checkpoint = await checkpointIn(options.model);
  const paragraphs = await readParagraphs(options.data);
  const parent = options.from === undefined ? null : await adapterIn('--from', path.resolve(options.from));
  // Loaded only here, so that other commands start faster.
  const { splitByTitle } = await import('@engraft/evaluation');
  const split = splitByTitle(paragraphs);
  if (split.training.length === 0)
    throw new CommandFailure(
      `${options.data} has too few titles to train on: one in twenty is kept apart, to ask about`,
    );
  const folder = path.resolve(options.out);
  await untilInterrupted(
    async (signal) => {
      const lock = await lockOutput(folder);
      const training = { checkpoint, ...split, parent, steps, seed, questions, signal };
      await trainIn(folder, options, training).finally(() => lock.release());
    },
    () => new CommandFailure(`stopped; the same command goes on from what is in ${options.out}`),
  );
}

interface Training extends ParagraphSplit {
  readonly checkpoint: Checkpoint;
  readonly parent: AdapterReference | null;
  readonly steps: number;
  readonly seed: number;
  readonly questions: number;
  readonly signal: AbortSignal;
}

async function trainIn(folder: string, options: TrainOptions, training: Training): Promise<void> {
  const { checkpoint, training: paragraphs, heldOut, parent, steps, seed, questions, signal } = training;
  const { measureReading, trainTeacher } = await import('@engraft/evaluation');
  const { engine, prompts } = await openModel(checkpoint);
  const progress = showTeacherProgress(process.stderr);
  try {
    const measured = (adapter: AdapterReference | null): Promise<ReadingFigures> =>
      measureReading(engine, heldOut, adapter, { prompts, count: questions, signal });
    const before = await measured(null);
    const onStep = progress.update;
    const adapter = await trainTeacher({ engine, paragraphs, prompts, folder, parent, steps, seed, signal, onStep });
    progress.stop();
    const after = await measured(adapter);
    print(options, { adapter, steps, before, after }, [
      `before: ${describe(before)}`,
      `after:  ${describe(after)}`,
      `the adapter is in ${adapter.folder}`,
    ]);
  } finally {
    progress.stop();
    await engine.close();
  }
}

/** Two trainings in one folder would remove each other's snapshots. */
async function lockOutput(folder: string): Promise<FileLock> {
  const { ownFile } = await import('../../fileLock/ownedFile.js');
  await mkdir(folder, { recursive: true });
  const file = await ownFile(path.join(folder, 'train.lock'));
  if (file.kind === 'owned') return file.lock;
  const owner = file.owner === '' ? '' : ` (${file.owner})`;
  throw new CommandFailure(
    `--out: another training runs in ${folder}${owner}; wait for its end, or name another folder`,
  );
}

async function adapterIn(option: string, folder: string): Promise<AdapterReference> {
  const { adapterFiles, hashAdapterFolder } = await import('@engraft/engine');
  const contentHash = await hashAdapterFolder(folder);
  if (contentHash === null)
    throw new CommandFailure(`${option}: ${folder} has no adapter in PEFT's format (${adapterFiles.join(', ')})`);
  return { folder, contentHash };
}

function describe({ total, exact, contained }: ReadingFigures): string {
  if (total === 0) return 'nothing was asked';
  return `${contained} of ${total} answers about titles kept apart give an accepted one, ${exact} word for word`;
}

async function readParagraphs(file: string): Promise<readonly Paragraph[]> {
  const text = await readTextFile(file);
  const { parseParagraphs } = await import('@engraft/evaluation');
  const set = parseParagraphs(text);
  if (set.kind === 'read') return set.paragraphs;
  throw new CommandFailure(`${file}, line ${set.line}${set.field === '' ? '' : `, ${set.field}`}: ${set.message}`);
}
