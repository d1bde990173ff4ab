/** The tables of the console, and of what people change with it or on the command line. */
import type { MemberRole } from '@engraft/contract/console';
import type { GeneratedAlways } from 'kysely';
import type { JsonColumn, Timestamp } from './columns.js';

/** Rows are added and never changed. */
export interface AuditEventsTable {
  id: GeneratedAlways<number>;
  occurred_at: GeneratedAlways<Date>;
  action: string;
  actor: string;
  account: string;
  reason: string | null;
  project_id: string | null;
  target: string;
  details: JsonColumn;
}

/** People who use the console. */
export interface MembersTable {
  id: string;
  /** In lower case. */
  email: string;
  password_hash: string;
  created_at: Timestamp;
}

export interface MemberRolesTable {
  member_id: string;
  /** `null` for every project. */
  project_id: string | null;
  role: MemberRole;
}

export interface ConsoleLinksTable {
  token_sha256: Buffer;
  /** `null` if whoever opens the link chooses one. */
  email: string | null;
  /** `null` if the link resets a password and changes no role. */
  role: MemberRole | null;
  /** `null` if the role is for every project. */
  project_id: string | null;
  created_at: Timestamp;
  expires_at: Date;
}

export interface ConsoleSessionsTable {
  token_sha256: Buffer;
  member_id: string;
  created_at: Timestamp;
  expires_at: Date;
}
