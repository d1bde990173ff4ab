import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import type { AuditAction } from './audited.js';

export interface AuditEventQuery {
  readonly project_id?: string;
  readonly action?: AuditAction;
  /** Lists only events before the one with this number. */
  readonly before?: number;
  readonly limit: number;
}

export interface ListedAuditEvent {
  readonly id: number;
  readonly occurred_at: Date;
  readonly action: string;
  readonly actor: string;
  readonly account: string;
  readonly reason: string | null;
  /** The project's name, or `null` if there is none. */
  readonly project: string | null;
  readonly target: string;
  readonly details: unknown;
}

/** Newest first. */
export async function listAuditEvents(
  db: Kysely<Database>,
  { project_id, action, before, limit }: AuditEventQuery,
): Promise<ListedAuditEvent[]> {
  return db
    .selectFrom('audit_events')
    .leftJoin('projects', 'projects.id', 'audit_events.project_id')
    .select(['audit_events.id', 'occurred_at', 'action', 'actor', 'account', 'reason'])
    .select(['projects.name as project', 'target', 'details'])
    .$if(project_id !== undefined, (query) => query.where('project_id', '=', project_id ?? null))
    .$if(action !== undefined, (query) => query.where('action', '=', action ?? ''))
    .$if(before !== undefined, (query) => query.where('audit_events.id', '<', before ?? 0))
    .orderBy('audit_events.id', 'desc')
    .limit(limit)
    .execute();
}
