import { readFile } from 'node:fs/promises';
import { buffer as readStream } from 'node:stream/consumers';
import type { Command } from 'commander';
import { limits, type Job, type LearningResult } from '@engraft/contract';
import { notEmpty, parseName, parseUsdWithin } from '../arguments.js';
import { showLearningProgress, silentProgress } from '../learningProgress.js';
import { openClient } from '../openClient.js';
import { formatUsd, print } from '../output.js';
import { waitForJob } from '../waitForJob.js';
import { whyItEnded } from '../whyItEnded.js';
import { addPrintOptions, CommandFailure, type PrintOptions } from '../withDatabase.js';

interface LearnOptions extends PrintOptions {
  readonly subject: string;
  readonly tenant?: string;
  readonly maxCostUsd: string;
  readonly activate: boolean;
}

const costUsd = {
  min: limits.minLearningMaxCostMicrousd / 1_000_000,
  max: limits.maxLearningMaxCostMicrousd / 1_000_000,
};

export function addLearnCommand(program: Command): void {
  addPrintOptions(
    program
      .command('learn')
      .argument('<file>', 'the passage, as UTF-8 text; - for standard input', notEmpty('<file>'))
      .description('learn a passage through the API; set ENGRAFT_BASE_URL and ENGRAFT_API_KEY for a service elsewhere')
      .requiredOption('--subject <subject>', 'the subject that learns it')
      .option('--tenant <tenant>', 'the tenant that the subject belongs to')
      .option('--max-cost-usd <amount>', `the most that it may cost, from ${costUsd.min} to ${costUsd.max}`, '20')
      .option('--no-activate', 'keep the new version, without making it the active one'),
  ).action(async (file: string, options: LearnOptions) => {
    const maxCostMicrousd = parseUsdWithin('--max-cost-usd', options.maxCostUsd, costUsd);
    const subject = parseName('subject', options.subject);
    const call = options.tenant === undefined ? {} : { tenant: parseName('tenant', options.tenant) };
    const content = await readPassage(file);
    const client = await openClient(options);
    const startedAtMs = Date.now();
    const receipt = await client.internalizations.create(
      { subject_id: subject, content, max_cost_microusd: maxCostMicrousd, activate: options.activate },
      call,
    );
    // "Progress on a terminal": elsewhere, standard error is only for the one line of a failure.
    const progress = process.stderr.isTTY ? showLearningProgress(process.stderr) : silentProgress;
    const onUpdate = ({ phase }: Job): void => progress.update(phase);
    const job = await waitForJob(client, receipt.id, { ...call, onUpdate }).finally(() => progress.stop());
    const seconds = (Date.now() - startedAtMs) / 1000;
    print(options, job, describe(job, seconds));
    if (job.status !== 'ready') throw new CommandFailure(`${job.id} ended as ${job.status}${whyOf(job)}`);
  });
}

function whyOf({ result, error }: Job): string {
  if (result !== null && 'validation' in result && result.rejection !== undefined) {
    return ` (${result.rejection.reasons.join(', ')}): ${result.rejection.message}`;
  }
  return whyItEnded(error);
}

async function readPassage(file: string): Promise<string> {
  const bytes = await (file === '-' ? readStream(process.stdin) : readFile(file)).catch((error: unknown) => {
    throw new CommandFailure(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  });
  const name = file === '-' ? 'standard input' : file;
  const text = decoded(bytes);
  // Replacement characters would be learned, and charged.
  if (text === null) throw new CommandFailure(`${name} is not UTF-8 text`);
  const { minLearningContentUnits: min, maxLearningContentUnits: max } = limits;
  if (text.length < min || text.length > max) {
    const advice = text.length < min ? '' : '; learn it in parts, one after another';
    throw new CommandFailure(
      `${name} has ${text.length} characters, and a passage must have ${min} to ${max}${advice}`,
    );
  }
  return text;
}

function decoded(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function describe(job: Job, seconds: number): string[] {
  const lines: string[] = [];
  if (job.result !== null && 'validation' in job.result) lines.push(...describeResult(job.result));
  const { charged_microusd, reserved_microusd } = job.billing;
  lines.push(`charged:    ${formatUsd(charged_microusd)} of ${formatUsd(reserved_microusd)} reserved`);
  lines.push(`time:       ${seconds.toFixed(1)} s`);
  return lines;
}

function describeResult({ candidate, validation, activated, activation_conflict }: LearningResult): string[] {
  const { passed_count, total_count, base_passed_count, retention_passed_count, retention_total_count } = validation;
  const state = activated ? 'active' : activation_conflict ? 'not active: another version is' : 'not active';
  return [
    ...(candidate === undefined ? [] : [`version:    ${candidate.version_id} (${state})`]),
    `validation: ${passed_count} of ${total_count} questions (${base_passed_count} before learning)`,
    ...(retention_total_count === 0
      ? []
      : [`retention:  ${retention_passed_count} of ${retention_total_count} questions of earlier passages`]),
  ];
}
