import type { EngraftClient, WaitOptions } from '@engraft/client';
import type { Job } from '@engraft/contract';
import { CommandFailure } from './withDatabase.js';

/**
 * Waits until a job that was admitted has ended.
 * @throws CommandFailure that names the job, if the service or the user does not wait: whoever took the job for lost
 * would ask, and pay, twice
 */
export async function waitForJob(client: EngraftClient, jobId: string, options: WaitOptions): Promise<Job> {
  // A second signal ends the process at once.
  const interrupted = new AbortController();
  const interrupt = (): void => interrupted.abort(new Error('interrupted'));
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.once(signal, interrupt);
  return client.jobs
    .wait(jobId, { ...options, signal: interrupted.signal })
    .catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      throw new CommandFailure(`${why}; ${jobId} goes on in the service: GET /v1/jobs/${jobId} shows how it ends`);
    })
    .finally(() => {
      for (const signal of signals) process.off(signal, interrupt);
    });
}
