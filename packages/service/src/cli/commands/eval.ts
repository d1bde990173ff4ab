import { appendFile, rm, stat, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { currentPriceCard } from '@engraft/contract';
import type { ModelDescription } from '@engraft/engine';
import type { MeasuringOptions, PassageEntry, PassageReport } from '@engraft/evaluation';
import type { LearningBudget } from '@engraft/learning';
import { pino } from 'pino';
import { type Config, readConfig } from '../../config/config.js';
import { notEmpty, parsePositive, parseUsd, parseWholeNumber } from '../arguments.js';
import { silentMeasuring, showMeasuring } from '../measuringProgress.js';
import { readTextFile } from '../textFile.js';
import { untilInterrupted } from '../untilInterrupted.js';
import { CommandFailure } from '../withDatabase.js';

interface EvalOptions {
  readonly chain: string;
  readonly gold?: boolean;
  readonly passages?: string;
  readonly seed: string;
  readonly maxCostUsd: string;
  /** `true` for standard output. */
  readonly json?: string | true;
  readonly plot?: string;
}

export function addEvalCommand(program: Command): void {
  program
    .command('eval')
    .argument(
      '<file>',
      'passages with questions, one JSON object a line: {id, kind, passage, questions: [{phrasings, answers}]}; ' +
        "or paragraphs with questions in SQuAD's format or one a line; may be compressed (.gz)",
      notEmpty('<file>'),
    )
    .description('measure what learning each passage is worth, with the model of ENGRAFT_MODEL_DIR; needs no service')
    .option('--chain <n>', 'learn this many passages, each on top of the one before', '1')
    .option(
      '--gold',
      "train the file's own pairs: the first phrasing of each question, while the others are only asked",
    )
    .option('--passages <n>', 'use only this many passages, spread evenly over the file')
    .option('--seed <n>', 'the seed of the randomness in learning', '1')
    .option('--max-cost-usd <amount>', 'the most that learning one passage may cost', '20')
    .option('--json [file]', 'write every figure to a file, or to standard output and nothing else there')
    .option('--plot <file>', 'write a bar chart to an SVG file')
    .action(evaluateFile);
}

async function evaluateFile(file: string, options: EvalOptions): Promise<void> {
  const config = readConfig();
  const chainLength = parsePositive('--chain', options.chain);
  const seed = parseWholeNumber('--seed', options.seed);
  const budget = budgetOf(parseUsd('--max-cost-usd', options.maxCostUsd));
  const gold = options.gold === true;
  const limit = options.passages === undefined ? Infinity : parsePositive('--passages', options.passages);
  if (config.engine !== 'embedded') {
    throw new CommandFailure(`eval needs the embedded engine: unset ENGRAFT_ENGINE, which is ${config.engine}`);
  }
  // Loaded only here, so that other commands start faster.
  const { summarise } = await import('@engraft/evaluation');
  const { spreadSample } = await import('@engraft/learning');
  const { measuringChart, measuringLines } = await import('../measuringReport.js');
  const all = await readPassages(file);
  const outputs = [options.json, options.plot].filter((output) => typeof output === 'string');
  await untilInterrupted(
    (signal) =>
      withWritable(outputs, async () => {
        const { model, reports } = await measured(config, {
          passages: spreadSample(all, limit),
          ...{ budget, seed, gold, chainLength, signal },
          canaryPassages: all,
        });
        const summary = summarise(reports);
        const figures = { file, model, seed, gold, chain: chainLength, summary, passages: reports };
        const json = `${JSON.stringify(figures, null, 2)}\n`;
        const lines = measuringLines(reports, summary).map((line) => `${line}\n`);
        process.stdout.write(options.json === true ? json : lines.join(''));
        const written = await Promise.allSettled([
          typeof options.json === 'string' ? write(options.json, json) : null,
          options.plot === undefined ? null : write(options.plot, measuringChart(reports, summary)),
        ]);
        for (const output of written) if (output.status === 'rejected') throw output.reason;
      }),
    () => new CommandFailure('stopped before the end; no figures were written'),
  );
}

type Measuring = Omit<MeasuringOptions, 'method' | 'askBase' | 'onProgress'> & {
  readonly passages: readonly PassageEntry[];
};

interface Measured {
  readonly model: ModelDescription;
  readonly reports: readonly PassageReport[];
}

/** Measures with an engine for this alone, and shows progress on a terminal. */
async function measured(config: Config, { passages, ...options }: Measuring): Promise<Measured> {
  const { measurePassages } = await import('@engraft/evaluation');
  const { loadEngine } = await import('../../startup/model.js');
  const { engine, method } = await loadEngine(config, pino({ level: 'silent' }));
  const progress = process.stderr.isTTY ? showMeasuring(process.stderr) : silentMeasuring;
  try {
    const model = await engine.describe();
    const reports = await measurePassages(engine, passages, {
      ...options,
      method: await method(),
      askBase: true,
      onProgress: (step) => progress.update(step),
    });
    return { model, reports };
  } finally {
    progress.stop();
    await engine.close();
  }
}

async function readPassages(file: string): Promise<readonly PassageEntry[]> {
  const text = await readTextFile(file);
  const { parsePassageFile } = await import('@engraft/evaluation');
  const set = parsePassageFile(text);
  if (set.kind === 'read') return set.passages;
  throw new CommandFailure(`${file}, line ${set.line}${set.field === '' ? '' : `, ${set.field}`}: ${set.message}`);
}

/** At the current prices. Hosting is not computation, and is left out. */
function budgetOf(maxComputeMicrousd: number): LearningBudget {
  const { input_nanousd_per_token, output_nanousd_per_token } = currentPriceCard;
  const { cached_input_nanousd_per_token, training_nanousd_per_token } = currentPriceCard;
  return {
    max_compute_microusd: maxComputeMicrousd,
    input_nanousd_per_token,
    output_nanousd_per_token,
    cached_input_nanousd_per_token,
    training_nanousd_per_token,
  };
}

async function write(file: string, text: string): Promise<void> {
  await writeFile(file, text).catch((error: unknown) => cannotWrite(file, error));
}

/**
 * Checks before hours of measuring, rather than after them, that the files can be written. What is in them stays. Those
 * that the check made, and that got no figures, are removed.
 */
async function withWritable(files: readonly string[], work: () => Promise<void>): Promise<void> {
  const made: string[] = [];
  const sizeOf = async (file: string): Promise<number | null> => (await stat(file).catch(() => null))?.size ?? null;
  try {
    for (const file of files) {
      if ((await sizeOf(file)) === null) made.push(file);
      await appendFile(file, '').catch((error: unknown) => cannotWrite(file, error));
    }
    await work();
  } finally {
    for (const file of made) if ((await sizeOf(file)) === 0) await rm(file);
  }
}

function cannotWrite(file: string, error: unknown): never {
  throw new CommandFailure(`${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
}
