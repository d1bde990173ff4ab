import type { EngraftClient } from '@engraft/client';
import type { Job, LearningResult } from '@engraft/contract';
import { showLearningProgress } from '../learningProgress.js';
import { formatUsd } from '../output.js';
import { whyItEnded } from '../whyItEnded.js';
import type { Question, Sample } from './sample.js';

const maxCostMicrousd = 20_000_000;

export interface StoryOptions {
  readonly signal: AbortSignal;
  /** Told the job that learns the passage, whoever waits for it, and `null` once it has ended. */
  readonly onLearning: (jobId: string | null) => void;
}

/** Asks base about the sample, learns it, and asks the new version the same. Prints all of it. */
export async function tellStory(
  client: EngraftClient,
  { file, passage, questions }: Sample,
  { signal, onLearning }: StoryOptions,
): Promise<void> {
  const timestamp = new Date().toISOString().replaceAll(/[^0-9]/g, '');
  const subjectId = `quickstart-${timestamp.slice(0, 14)}`;
  print(`\n  The passage (${file}):\n\n${indent(wrap(passage))}\n`);
  const before = await askAll(client, signal, subjectId, questions, 'base');
  const startedAtMs = performance.now();
  const learned = await learn(client, subjectId, passage, { signal, onLearning });
  const seconds = (performance.now() - startedAtMs) / 1000;
  const after = await askAll(client, signal, subjectId, questions);

  print('\n  The passage is in no prompt below; what is known is in the weights.\n');
  for (const [index, question] of questions.entries()) {
    print(`  ${question.question}`);
    print(`      base         ${marked(question, before[index])}`);
    print(`      new version  ${marked(question, after[index])}\n`);
  }
  for (const line of describe(learned, subjectId, seconds)) print(`  ${line}`);
}

interface Learned {
  readonly job: Job;
  readonly result: LearningResult;
}

async function learn(
  client: EngraftClient,
  subjectId: string,
  content: string,
  { signal, onLearning }: StoryOptions,
): Promise<Learned> {
  const body = { subject_id: subjectId, content, max_cost_microusd: maxCostMicrousd };
  const receipt = await client.internalizations.create(body, { signal });
  onLearning(receipt.id);
  const progress = showLearningProgress(process.stdout);
  const job = await client.jobs
    .wait(receipt.id, { signal, onUpdate: ({ phase }) => progress.update(phase) })
    .finally(() => progress.stop());
  onLearning(null);
  const result = job.result !== null && 'validation' in job.result ? job.result : null;
  if (job.status === 'ready' && result !== null) return { job, result };
  const reason = result?.rejection?.message;
  const why = reason === undefined ? whyItEnded(job.error) : `: ${reason}`;
  throw new Error(`the learning job ${job.id} ended as ${job.status}${why}`);
}

async function askAll(
  client: EngraftClient,
  signal: AbortSignal,
  subjectId: string,
  questions: readonly Question[],
  adapterVersion?: string,
): Promise<string[]> {
  return Promise.all(
    questions.map(async ({ question }) => {
      const body = {
        subject_id: subjectId,
        messages: [{ role: 'user' as const, content: question }],
        max_output_tokens: 40,
        ...(adapterVersion === undefined ? {} : { adapter_version: adapterVersion }),
      };
      const receipt = await client.inferences.create(body, { signal });
      const { id, status, result, error } = await client.jobs.wait(receipt.id, { signal });
      if (result !== null && 'text' in result) return result.text;
      throw new Error(`the inference ${id} ended as ${status}${whyItEnded(error)}`);
    }),
  );
}

/** The answer, marked by whether it holds what the passage says. */
function marked({ answer }: Question, given = ''): string {
  return `${given.toLowerCase().includes(answer.toLowerCase()) ? '✓' : '✗'} ${given}`;
}

function describe({ job, result }: Learned, subjectId: string, seconds: number): string[] {
  const { charged_microusd, reserved_microusd } = job.billing;
  const { candidate, validation, training } = result;
  const { passed_count, total_count, base_passed_count } = validation;
  return [
    `version     ${candidate?.version_id ?? 'none'}, active for subject ${subjectId}`,
    `validation  ${passed_count} of ${total_count} held-out questions (${base_passed_count} before learning)`,
    `training    ${training.steps} steps, ${training.tokens} tokens`,
    `charged     ${formatUsd(charged_microusd)} of ${formatUsd(reserved_microusd)} reserved`,
    `learned in  ${seconds.toFixed(1)} s`,
  ];
}

function wrap(text: string, width = 90): string {
  return text
    .trim()
    .replaceAll(new RegExp(`(.{1,${width}})(\\s+|$)`, 'g'), '$1\n')
    .trimEnd();
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '    ');
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
