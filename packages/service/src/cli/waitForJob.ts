import type { EngraftClient, WaitOptions } from '@engraft/client';
import type { Job } from '@engraft/contract';
import { untilInterrupted } from './untilInterrupted.js';
import { CommandFailure } from './withDatabase.js';

/**
 * Waits until a job that was admitted has ended.
 * @throws CommandFailure that names the job, if the service or the user does not wait: whoever took the job for lost
 * would ask, and pay, twice
 */
export async function waitForJob(client: EngraftClient, jobId: string, options: WaitOptions): Promise<Job> {
  return untilInterrupted(
    (signal) => client.jobs.wait(jobId, { ...options, signal }),
    () => new Error('interrupted'),
  ).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(`${why}; ${jobId} goes on in the service: GET /v1/jobs/${jobId} shows how it ends`);
  });
}
