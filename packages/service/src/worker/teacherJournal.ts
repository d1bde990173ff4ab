import type { TokenUsage } from '@engraft/contract';
import type { RemoteCallJournal } from '@engraft/learning';
import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import type { JobLease } from '../jobs/jobLease.js';
import { beginTeacherCall, storeTeacherAnswer, withdrawTeacherCall } from '../jobs/teacherCalls.js';
import { assertHeld, LeaseLost } from './jobContext.js';
import { noTokens } from './tokenCounts.js';
import { whenDatabaseIsBack } from './whenDatabaseIsBack.js';

/**
 * Stores calls to a remote teacher in `teacher_calls`, under the lease. A receipt waits for a database that is away,
 * since without it the cost of the call is not known. `onAnswer` is told of every answer once, including those of an
 * earlier claim: when the engine dies, learning begins again and asks for all of them again.
 */
export function teacherCallsOf(
  db: Kysely<Database>,
  job: JobLease,
  lease: AbortSignal,
  onAnswer: (usage: TokenUsage) => void,
): RemoteCallJournal {
  const told = new Set<string>();
  const tellOnce = (key: string, usage: TokenUsage): void => {
    if (told.has(key)) return;
    told.add(key);
    onAnswer(usage);
  };
  return {
    begin: async (key) => {
      const call = await beginTeacherCall(db, job, key);
      if (call.kind === 'lost') throw new LeaseLost('the lease has passed to another worker');
      if (call.kind !== 'answered') return call;
      const { input_tokens, output_tokens, cached_input_tokens } = call.usage;
      tellOnce(key, { ...noTokens, ...call.usage });
      const usage = { inputTokens: input_tokens, outputTokens: output_tokens, cachedInputTokens: cached_input_tokens };
      return { kind: 'answered', text: call.text, usage };
    },
    withdraw: async (key) => {
      assertHeld(await whenDatabaseIsBack(() => withdrawTeacherCall(db, job, key), lease));
    },
    store: async (key, { text, usage }) => {
      const { inputTokens, outputTokens, cachedInputTokens } = usage;
      const counts = { input_tokens: inputTokens, output_tokens: outputTokens, cached_input_tokens: cachedInputTokens };
      const answer = { text, usage: counts };
      assertHeld(await whenDatabaseIsBack(() => storeTeacherAnswer(db, job, key, answer), lease));
      tellOnce(key, { ...noTokens, ...counts });
    },
  };
}
