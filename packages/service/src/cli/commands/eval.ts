import { appendFile, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { currentPriceCard } from '@engraft/contract';
import type { PassageEntry } from '@engraft/evaluation';
import type { LearningBudget } from '@engraft/learning';
import { pino } from 'pino';
import { readConfig } from '../../config/config.js';
import { parsePositive, parseUsd, parseWholeNumber } from '../arguments.js';
import { silentMeasuring, showMeasuring } from '../measuringProgress.js';
import { readTextFile } from '../textFile.js';
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
  const limit = options.passages === undefined ? Infinity : parsePositive('--passages', options.passages);
  if (config.engine !== 'embedded') {
    throw new CommandFailure(`eval needs the embedded engine: unset ENGRAFT_ENGINE, which is ${config.engine}`);
  }
  // Loaded only here, so that other commands start faster.
  const { measurePassages, summarise } = await import('@engraft/evaluation');
  const { spreadSample } = await import('@engraft/learning');
  const { measuringChart, measuringLines } = await import('../measuringReport.js');
  const all = await readPassages(file);
  for (const output of [options.json, options.plot]) if (typeof output === 'string') await assertWritable(output);
  const passages = spreadSample(all, limit);
  const { loadEngine } = await import('../../startup/model.js');
  const { engine, method } = await loadEngine(config, pino({ level: 'silent' }));
  const progress = process.stderr.isTTY ? showMeasuring(process.stderr) : silentMeasuring;
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  try {
    const model = await engine.describe();
    const reports = await measurePassages(engine, passages, {
      budget,
      method: await method(),
      seed,
      gold: options.gold === true,
      chainLength,
      askBase: true,
      canaryPassages: all,
      signal: interrupted.signal,
      onProgress: (step) => progress.update(step),
    }).finally(() => progress.stop());
    const summary = summarise(reports);
    const figures = { file, model, seed, gold: options.gold === true, chain: chainLength, summary, passages: reports };
    const json = `${JSON.stringify(figures, null, 2)}\n`;
    const lines = measuringLines(reports, summary).map((line) => `${line}\n`);
    process.stdout.write(options.json === true ? json : lines.join(''));
    const written = await Promise.allSettled([
      typeof options.json === 'string' ? write(options.json, json) : null,
      options.plot === undefined ? null : write(options.plot, measuringChart(reports, summary)),
    ]);
    for (const output of written) if (output.status === 'rejected') throw output.reason;
  } catch (error) {
    if (!interrupted.signal.aborted) throw error;
    throw new CommandFailure('stopped before the end; no figures were written');
  } finally {
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

/** Checked before hours of measuring rather than after them. The content of the file stays. */
async function assertWritable(file: string): Promise<void> {
  await appendFile(file, '').catch((error: unknown) => cannotWrite(file, error));
}

function cannotWrite(file: string, error: unknown): never {
  throw new CommandFailure(`${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
}
