import path from 'node:path';
import type { Command } from 'commander';
import type { AdapterReference } from '@engraft/engine';
import type { Paragraph, ReadingFigures } from '@engraft/evaluation';
import { pino } from 'pino';
import { UsageError } from '../../config/config.js';
import { parseWholeNumber } from '../arguments.js';
import { print } from '../output.js';
import { showTeacherProgress } from '../teacherProgress.js';
import { readTextFile } from '../textFile.js';
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
    .requiredOption('--out <dir>', 'where the training is kept, and the adapter in the end, as `adapter`')
    .option('--from <dir>', 'a teaching adapter to go on from')
    .option('--steps <n>', 'how many steps, four paragraphs each', '600')
    .option('--seed <n>', 'decides the order of paragraphs and questions', '1')
    .option('--questions <n>', 'how many to ask before and after, about titles that are not trained on; 0: none', '100')
    .option('--json', 'print one JSON document')
    .action(train);
}

async function train(options: TrainOptions): Promise<void> {
  const [steps, seed, questions] = [
    parseWholeNumber(options.steps),
    parseWholeNumber(options.seed),
    parseWholeNumber(options.questions),
  ];
  if (steps < 1) throw new UsageError('--steps must be at least 1');
  const paragraphs = await readParagraphs(options.data);
  // Loaded here only: other commands start faster.
  const { measureReading, splitByTitle, trainTeacher } = await import('@engraft/evaluation');
  const { loadPreset, promptsOf } = await import('@engraft/learning');
  const { shippedPresets } = await import('../../processes/learningMethod.js');
  const { startEngineHost } = await import('@engraft/engine');
  const parent = options.from === undefined ? null : await adapterIn(path.resolve(options.from));
  const { training, heldOut } = splitByTitle(paragraphs);
  if (training.length === 0)
    throw new CommandFailure(`${options.data} has no title to train on: one in twenty is kept apart`);
  const modelDir = path.resolve(options.model);
  const prompts = promptsOf(await loadPreset(modelDir, shippedPresets));
  const engine = await startEngineHost({ modelDir, logger: pino({ level: 'silent' }) });
  const interrupted = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupted.abort());
  const { signal } = interrupted;
  const progress = showTeacherProgress(process.stderr);
  try {
    const measured = (adapter: Parameters<typeof measureReading>[2]): Promise<ReadingFigures> =>
      measureReading(engine, heldOut, adapter, { prompts, count: questions, signal });
    const before = await measured(null);
    const folder = path.resolve(options.out);
    const adapter = await trainTeacher({
      engine,
      paragraphs: training,
      prompts,
      folder,
      parent,
      steps,
      seed,
      signal,
      onStep: progress.update,
    });
    progress.stop();
    const after = await measured(adapter);
    print(options, { adapter, steps, before, after }, [
      `before: ${describe(before)}`,
      `after:  ${describe(after)}`,
      `the adapter is in ${adapter.folder}`,
    ]);
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new CommandFailure(`stopped; the same command goes on with ${options.out}`);
  } finally {
    progress.stop();
    await engine.close();
  }
}

async function adapterIn(folder: string): Promise<AdapterReference> {
  const { hashAdapterFolder } = await import('@engraft/engine');
  const contentHash = await hashAdapterFolder(folder);
  if (contentHash === null) throw new CommandFailure(`--from: ${folder} has no adapter`);
  return { folder, contentHash };
}

function describe({ total, exact, contained }: ReadingFigures): string {
  if (total === 0) return 'nothing was asked';
  return `${contained} of ${total} answers about titles that were not trained on contain an accepted one, ${exact} are one`;
}

async function readParagraphs(file: string): Promise<readonly Paragraph[]> {
  const text = await readTextFile(file);
  const { parseParagraphs } = await import('@engraft/evaluation');
  const set = parseParagraphs(text);
  if (set.kind === 'read') return set.paragraphs;
  throw new CommandFailure(`${file}, line ${set.line}${set.field === '' ? '' : `, ${set.field}`}: ${set.message}`);
}
