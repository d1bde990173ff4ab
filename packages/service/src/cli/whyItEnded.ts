import type { Job, JobErrorCode } from '@engraft/contract';

/** The meaning of each code, and what would help. */
const meanings: Readonly<Record<JobErrorCode, string>> = {
  invalid_json_output: 'the model did not write the JSON that was asked for; ask again, or more simply',
  invalid_tool_call: 'the model called a tool in a way that its schema does not allow; ask again, or more simply',
  validation_failed: 'the candidate did not pass its tests',
  budget_exhausted: 'the money was not enough: allow a higher cost, or learn a shorter passage',
  engine_failed: 'the engine failed, and nothing is charged; try again, or see the log of the worker',
  adapter_expired: 'the version has ended, and nothing is charged; name another version, or base',
  adapter_damaged: 'the files of the version are damaged or missing, and nothing is charged; tell the operator',
  adapter_unavailable: 'the files of the version could not be fetched, and nothing is charged; try again later',
  base_model_changed: 'the version belongs to another base model, and nothing is charged; learn its passages again',
  cancelled: 'an operator ended it, and nothing is charged',
  internal_error: 'something unexpected went wrong; the log of the worker says what',
  receipt_missing: 'the receipt for work done elsewhere is missing; an operator settles the job',
  receipt_inconsistent: 'the receipt for work done elsewhere contradicts itself; an operator settles the job',
};

/** Says why a job ended without a result, to be put after its status. Empty where the job has no error. */
export function whyItEnded(error: Job['error']): string {
  return error === null ? '' : `: ${error.code} (${meanings[error.code]})`;
}
