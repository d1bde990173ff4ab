import { sql, type Kysely } from 'kysely';
import type { TokenUsage } from '@engraft/contract';
import { z } from 'zod';
import type { Database } from '../db/schema.js';
import { inTransaction } from '../db/transaction.js';
import { lockLeasedJob, type JobLease, type LeasedWrite } from './jobLease.js';

export interface TeacherAnswer {
  readonly text: string;
  readonly usage: Pick<TokenUsage, 'input_tokens' | 'output_tokens' | 'cached_input_tokens'>;
}

export type TeacherCall =
  /** It is now written down, and may be made. */
  | { readonly kind: 'new' }
  | ({ readonly kind: 'answered' } & TeacherAnswer)
  /** It was made, but no receipt was stored. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'lost' };

/** Writes down that a call to a remote teacher is about to be made, unless an earlier claim made it. */
export async function beginTeacherCall(db: Kysely<Database>, lease: JobLease, key: string): Promise<TeacherCall> {
  return inTransaction<TeacherCall>(db, 'teacher_call.begun', async (trx) => {
    const job = await lockLeasedJob(trx, lease);
    if (job === null) return { kind: 'lost' };
    const inserted = await trx
      .insertInto('teacher_calls')
      .values({ job_id: job.id, key })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    if (inserted.numInsertedOrUpdatedRows === 1n) return { kind: 'new' };
    const { has_receipt, answer, ...usage } = await trx
      .selectFrom('teacher_calls')
      .select(['has_receipt', 'answer', 'input_tokens', 'output_tokens', 'cached_input_tokens'])
      .where('job_id', '=', job.id)
      .where('key', '=', key)
      .executeTakeFirstOrThrow();
    return has_receipt ? { kind: 'answered', text: z.string().parse(answer), usage } : { kind: 'unknown' };
  });
}

/** Removes a call that was not executed. */
export async function withdrawTeacherCall(db: Kysely<Database>, lease: JobLease, key: string): Promise<LeasedWrite> {
  return inTransaction<LeasedWrite>(db, 'teacher_call.withdrawn', async (trx) => {
    const job = await lockLeasedJob(trx, lease);
    if (job === null) return 'lost';
    await trx.deleteFrom('teacher_calls').where('job_id', '=', job.id).where('key', '=', key).execute();
    return 'done';
  });
}

export async function storeTeacherAnswer(
  db: Kysely<Database>,
  lease: JobLease,
  key: string,
  { text, usage }: TeacherAnswer,
): Promise<LeasedWrite> {
  return inTransaction<LeasedWrite>(db, 'teacher_call.answered', async (trx) => {
    const job = await lockLeasedJob(trx, lease);
    if (job === null) return 'lost';
    await trx
      .updateTable('teacher_calls')
      .set({ has_receipt: true, answer: JSON.stringify(text), ...usage })
      .where('job_id', '=', job.id)
      .where('key', '=', key)
      .execute();
    return 'done';
  });
}

/** Whether the job made a call whose cost is not known. */
export async function hasUnknownTeacherCall(db: Kysely<Database>, jobId: string): Promise<boolean> {
  const call = await db
    .selectFrom('teacher_calls')
    .select('key')
    .where('job_id', '=', jobId)
    .where('has_receipt', '=', false)
    .executeTakeFirst();
  return call !== undefined;
}

/** The sum of the receipts of the job's calls. */
export async function sumTeacherReceipts(db: Kysely<Database>, jobId: string): Promise<TeacherAnswer['usage']> {
  return db
    .selectFrom('teacher_calls')
    .select([
      sql<number>`coalesce(sum(input_tokens), 0)::bigint`.as('input_tokens'),
      sql<number>`coalesce(sum(output_tokens), 0)::bigint`.as('output_tokens'),
      sql<number>`coalesce(sum(cached_input_tokens), 0)::bigint`.as('cached_input_tokens'),
    ])
    .where('job_id', '=', jobId)
    .where('has_receipt', '=', true)
    .executeTakeFirstOrThrow();
}
