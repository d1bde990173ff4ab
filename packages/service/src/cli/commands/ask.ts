import type { Command } from 'commander';
import { limits } from '@engraft/contract';
import { openClient } from '../openClient.js';
import { parseName, parseWithin } from '../arguments.js';
import { print } from '../output.js';
import { waitForJob } from '../waitForJob.js';
import { whyItEnded } from '../whyItEnded.js';
import { shownAnswer } from '../shownAnswer.js';
import { addPrintOptions, CommandFailure, type PrintOptions } from '../withDatabase.js';

interface AskOptions extends PrintOptions {
  readonly subject: string;
  readonly version?: string;
  readonly tenant?: string;
  readonly maxOutputTokens: string;
}

export function addAskCommand(program: Command): void {
  addPrintOptions(
    program
      .command('ask')
      .argument('<text>', 'the question')
      .description('ask through the API; set ENGRAFT_BASE_URL and ENGRAFT_API_KEY for a service elsewhere')
      .requiredOption('--subject <subject>', 'the subject that answers, with its active version')
      .option('--version <version>', 'another version of the subject, or base')
      .option('--tenant <tenant>', 'the tenant that the subject belongs to')
      .option(
        '--max-output-tokens <n>',
        'the most tokens that the answer may have',
        String(limits.defaultOutputTokens),
      ),
  ).action(async (text: string, options: AskOptions) => {
    const { minOutputTokens: min, maxOutputTokens: max } = limits;
    const maxOutputTokens = parseWithin('--max-output-tokens', options.maxOutputTokens, { min, max });
    const subject = parseName('subject', options.subject);
    const call = options.tenant === undefined ? {} : { tenant: parseName('tenant', options.tenant) };
    const client = await openClient(options);
    const receipt = await client.inferences.create(
      {
        subject_id: subject,
        messages: [{ role: 'user', content: text }],
        max_output_tokens: maxOutputTokens,
        ...(options.version === undefined ? {} : { adapter_version: options.version }),
      },
      call,
    );
    const job = await waitForJob(client, receipt.id, call);
    if (job.result === null || !('text' in job.result)) {
      print(options, job, []);
      throw new CommandFailure(`${job.id} ended as ${job.status}${whyItEnded(job.error)}`);
    }
    const { text: shown, remark } = shownAnswer(job.result, job.usage.output_tokens);
    print(options, job, [shown]);
    if (remark !== null && options.json !== true) process.stderr.write(`engraft: ${remark}\n`);
  });
}
