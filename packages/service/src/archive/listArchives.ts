import { sql, type Kysely } from 'kysely';
import type { Database } from '../db/schema.js';

/** A file of archived jobs, as the database has recorded it. */
export interface RecordedArchive {
  readonly id: number;
  /** `YYYY-MM`: when its jobs ended. */
  readonly month: string;
  /** In the folder of archives. */
  readonly file: string;
  readonly moved_at: Date;
  readonly jobs: number;
  readonly transfers: number;
  /** The sum of its transfers. */
  readonly amount_microusd: number;
  readonly size_bytes: number;
  /** In hexadecimal digits. */
  readonly sha256: string;
}

/** In the order in which they were written. */
export async function listArchives(db: Kysely<Database>): Promise<RecordedArchive[]> {
  const { rows } = await sql<RecordedArchive>`
    select id, to_char(month, 'YYYY-MM') as month, file, moved_at, jobs, transfers, amount_microusd, size_bytes,
      encode(sha256, 'hex') as sha256
    from archives where moved_at is not null order by id`.execute(db);
  return rows;
}

/** The sums of an account's archived transfers in a month. */
export interface ArchivedSum {
  readonly account_id: string;
  /** `YYYY-MM` */
  readonly month: string;
  readonly received_microusd: number;
  readonly sent_microusd: number;
  readonly learning_microusd: number;
}

export async function readArchivedSums(db: Kysely<Database>): Promise<ArchivedSum[]> {
  const { rows } = await sql<ArchivedSum>`
    select account_id, to_char(month, 'YYYY-MM') as month, received_microusd, sent_microusd, learning_microusd
    from archived_sums order by account_id, month`.execute(db);
  return rows;
}
