import type { LearningNotice } from '@engraft/learning';
import type { Logger } from 'pino';

/** Logs events that change no outcome of a learning job, but cost time. */
export function logNotice(logger: Logger, jobId: string, notice: LearningNotice): void {
  switch (notice.kind) {
    case 'resumed':
      logger.info({ job_id: jobId, steps: notice.steps }, 'the training goes on from its last snapshot');
      break;
    case 'progress_unusable':
      logger.warn(
        { job_id: jobId, err: notice.error },
        'the last snapshot of the training cannot be used; it begins anew',
      );
      break;
    case 'snapshot_failed':
      logger.warn(
        { job_id: jobId, err: notice.error },
        'no snapshot of the training could be kept; it goes on without',
      );
      break;
    case 'adapter_lost':
      logger.warn({ job_id: jobId }, 'the files of the trained adapter are gone or damaged; it is trained again');
      break;
  }
}
