import type { GeneratedAlways } from 'kysely';
import type { Timestamp } from './columns.js';

export type AccountKind = 'issued' | 'available' | 'reserved' | 'spent';

export interface AccountsTable {
  id: string;
  kind: AccountKind;
  project_id: string | null;
  /** Only the trigger on `transfers` changes it. */
  balance_microusd: GeneratedAlways<number>;
}

export type TransferKind = 'grant' | 'reserve' | 'post' | 'void' | 'hosting' | 'refund';

export interface TransfersTable {
  id: GeneratedAlways<number>;
  kind: TransferKind;
  from_account: string;
  to_account: string;
  amount_microusd: number;
  job_id: string | null;
  version_id: string | null;
  /**
   * For hosting and its refund: whole days from the version's creation to the beginning of the paid day. `null` in old
   * transfers.
   */
  hosting_day: number | null;
  memo: string | null;
  created_at: Timestamp;
}

/** Sums of transfers, which a trigger on them keeps. */
export interface MonthlySpendingTable {
  project_id: string;
  /** The first day of a calendar month (UTC). */
  month: Date;
  /** Charges and hosting, less refunds. May be below zero. */
  spent_microusd: number;
  /** Charges of learning jobs alone, without hosting and refunds. */
  learning_microusd: number;
}

/** A file of archived jobs. Without `moved_at` it says nothing yet: its jobs are in the tables. */
export interface ArchivesTable {
  id: GeneratedAlways<number>;
  /** The first day of the calendar month (UTC) in which its jobs ended. */
  month: Date;
  /** In the folder of archives. */
  file: string;
  begun_at: Timestamp;
  /** Set with all that follows, by `archive_jobs`. */
  moved_at: GeneratedAlways<Date | null>;
  jobs: GeneratedAlways<number | null>;
  transfers: GeneratedAlways<number | null>;
  /** The sum of its transfers. */
  amount_microusd: GeneratedAlways<number | null>;
  size_bytes: GeneratedAlways<number | null>;
  sha256: GeneratedAlways<Buffer | null>;
}

/** Sums of the transfers that were archived. Only `archive_jobs` changes them. */
export interface ArchivedSumsTable {
  account_id: GeneratedAlways<string>;
  /** The first day of a calendar month (UTC), in which the transfers were made. */
  month: GeneratedAlways<Date>;
  received_microusd: GeneratedAlways<number>;
  sent_microusd: GeneratedAlways<number>;
  /** The part of `received_microusd` that learning jobs were charged. */
  learning_microusd: GeneratedAlways<number>;
}

/** Credit that was bought. */
export interface CreditPurchasesTable {
  /** One payment at Stripe. */
  checkout_id: string;
  /** The event that told of it first. */
  event_id: string;
  project_id: string;
  amount_microusd: number;
  created_at: Timestamp;
}
