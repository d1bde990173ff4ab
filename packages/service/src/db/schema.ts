import type { JobErrorCode, JobKind, JobPhase, JobStatus } from '@engraft/contract';
import type { Generated, GeneratedAlways } from 'kysely';
import type { JsonColumn, NullableJsonColumn, Timestamp } from './columns.js';
import type {
  AuditEventsTable,
  ConsoleLinksTable,
  ConsoleSessionsTable,
  MemberRolesTable,
  MembersTable,
} from './consoleTables.js';
import type {
  AccountsTable,
  ArchivedSumsTable,
  ArchivesTable,
  CreditPurchasesTable,
  MonthlySpendingTable,
  TransfersTable,
} from './ledgerTables.js';

/**
 * The tables as `migrations/` defines them, for Kysely. Amounts are integers of micro-USD. A bigint column is read as a
 * safe integer and a timestamptz as a Date (see `database.ts`).
 */

export interface ProjectsTable {
  id: string;
  name: string;
  monthly_spending_limit_microusd: number | null;
  monthly_learning_capacity_microusd: number | null;
  version_retention_days: Generated<number>;
  requests_per_minute: Generated<number>;
  created_at: Timestamp;
}

export interface ApiKeysTable {
  id: string;
  project_id: string;
  name: string;
  secret_sha256: Buffer;
  scopes: string[];
  tenant_id: string | null;
  created_at: Timestamp;
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
}

export interface RateLimitsTable {
  api_key_id: string;
  /** When the key's bucket of requests will be full again. */
  full_at: Date;
  /** How many requests the last statement took. */
  taken: Generated<number>;
}

export interface SubjectsTable {
  id: string;
  project_id: string;
  tenant_id: string | null;
  /** `subject_id` on the wire. */
  name: string;
  /** `null` if the subject uses base. */
  active_version_id: string | null;
  revision: Generated<number>;
  created_at: Timestamp;
  updated_at: Timestamp;
  /** `null` if it is not erased. */
  erased_at: Date | null;
}

/** Remembers whose turn it is. */
export interface ProjectTurnsTable {
  project_id: string;
  kind: JobKind;
  /** `-infinity` if it never had a turn. */
  claimed_at: Generated<Date>;
  /** How many of its jobs are queued. Triggers on jobs keep it when a transaction commits. */
  queued: Generated<number>;
  /** Whether any are. */
  waits: GeneratedAlways<boolean>;
  first_sequence: Generated<number>;
}

/** Triggers on jobs keep it when a transaction commits. */
export interface OpenJobsTable {
  project_id: string;
  /** How many of the project's jobs are queued or running. */
  jobs: number;
}

/** The sum over its rows is the number of open jobs in all projects. */
export interface OpenJobsOfServiceTable {
  slot: number;
  /** Negative in some. */
  jobs: number;
}

export interface JobsTable {
  id: string;
  sequence: GeneratedAlways<number>;
  project_id: string;
  tenant_id: string | null;
  subject_ref: string | null;
  subject_name: string;
  api_key_id: string;
  kind: JobKind;
  status: Generated<JobStatus>;
  phase: Generated<JobPhase>;
  /** A version id, or `base`. */
  adapter_version: string;
  /** Parse with `jobs/jobRequest.ts`. */
  request: JsonColumn;
  pricing_version: string;
  reserved_microusd: number;
  compute_microusd: Generated<number>;
  storage_microusd: Generated<number>;
  charged_microusd: GeneratedAlways<number>;
  settled: Generated<boolean>;
  input_tokens: Generated<number>;
  output_tokens: Generated<number>;
  cached_input_tokens: Generated<number>;
  training_tokens: Generated<number>;
  /** A part of `output_tokens`. */
  reasoning_tokens: Generated<number>;
  result: NullableJsonColumn;
  error_code: JobErrorCode | null;
  worker_id: string | null;
  fencing_token: Generated<number>;
  lease_expires_at: Date | null;
  /** Claims since the job last made progress, see `claimJob.ts`. */
  attempts: Generated<number>;
  /** `null` if no training is under way. */
  training_progress: NullableJsonColumn;
  /** The most steps that any claim has recorded. */
  training_steps: Generated<number>;
  /** Parse with `jobs/learningTrace.ts`. `null` until the job has ended, and once it is forgotten. */
  learning_trace: NullableJsonColumn;
  /** W3C's `traceparent` of the admitted request. `null` if it had none, or the job has ended. */
  trace_context: string | null;
  /** The checkpoint that learning began on. `null` if it has not begun. */
  base_model_hash: string | null;
  created_at: Timestamp;
  updated_at: Timestamp;
  /** When its texts were removed and callers could no longer find it. `null` if that has not happened. */
  forgotten_at: Date | null;
}

export interface JobPhasesTable {
  job_id: string;
  phase: string;
  outcome: JsonColumn;
  input_tokens: number;
  output_tokens: number;
  cached_input_tokens: number;
  training_tokens: number;
  finished_at: Timestamp;
}

/** Calls to a remote teacher. */
export interface TeacherCallsTable {
  job_id: string;
  /** SHA-256 of the question. */
  key: string;
  /** `false` if the call was made and its cost is not known. */
  has_receipt: Generated<boolean>;
  /** A text. `null` without a receipt, and when the job has ended. */
  answer: NullableJsonColumn;
  input_tokens: Generated<number>;
  output_tokens: Generated<number>;
  cached_input_tokens: Generated<number>;
  asked_at: Timestamp;
}

export interface IdempotencyKeysTable {
  project_id: string;
  tenant_id: string | null;
  key: string;
  fingerprint_sha256: Buffer;
  api_key_id: string;
  job_id: string;
  created_at: Timestamp;
}

export interface VersionsTable {
  id: string;
  subject_ref: string;
  parent_version_id: string | null;
  source_job_id: string;
  adapter_hash: string;
  size_bytes: number;
  passed_count: number;
  total_count: number;
  /** `null` if nobody can rehearse it any more. */
  rehearsal: NullableJsonColumn;
  created_at: Timestamp;
  expires_at: Date;
  files_deleted_at: Date | null;
  /** `null` while its hosting goes on, even if its deadline has passed while no worker ran. */
  retention_ended_at: Date | null;
  /** An end by an operator, or by somebody unknown, is final. See `retention/correctDeadlines.ts`. */
  retention_ended_by: 'operator' | 'retention' | null;
  /** Since when its adapter is known to be damaged or missing. `null` if it is not. */
  damaged_at: Date | null;
  /** The checkpoint that it was trained on. `null` if nobody has recorded it yet. */
  base_model_hash: string | null;
  /** Its files are deleted without delay. */
  erased_at: Date | null;
}

export interface KeptAdaptersTable {
  adapter_hash: string;
  /** `null` for an import that has no jobs yet. */
  job_id: string | null;
  created_at: Timestamp;
}

/** At most one row. */
export interface BaseModelTable {
  only_row: Generated<boolean>;
  /** Identifies the checkpoint that the workers have loaded. */
  content_hash: string;
  loaded_since: Timestamp;
}

/** One row. */
export interface ClockTable {
  only_row: Generated<boolean>;
  /** The database's clock when it was last seen. */
  seen_at: Date;
  /** When it was last found more than a day ahead of the time before. */
  leapt_at: Date | null;
}

export interface Database {
  projects: ProjectsTable;
  api_keys: ApiKeysTable;
  rate_limits: RateLimitsTable;
  subjects: SubjectsTable;
  jobs: JobsTable;
  project_turns: ProjectTurnsTable;
  open_jobs: OpenJobsTable;
  open_jobs_of_service: OpenJobsOfServiceTable;
  job_phases: JobPhasesTable;
  teacher_calls: TeacherCallsTable;
  idempotency_keys: IdempotencyKeysTable;
  versions: VersionsTable;
  kept_adapters: KeptAdaptersTable;
  base_model: BaseModelTable;
  accounts: AccountsTable;
  transfers: TransfersTable;
  monthly_spending: MonthlySpendingTable;
  archives: ArchivesTable;
  archived_sums: ArchivedSumsTable;
  credit_purchases: CreditPurchasesTable;
  clock: ClockTable;
  audit_events: AuditEventsTable;
  members: MembersTable;
  member_roles: MemberRolesTable;
  console_links: ConsoleLinksTable;
  console_sessions: ConsoleSessionsTable;
}
