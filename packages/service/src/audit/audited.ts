import type { Kysely, Transaction } from 'kysely';
import type { Database } from '../db/schema.js';
import { inTransaction } from '../db/transaction.js';
import type { Operator } from './operator.js';

export const auditActions = [
  'project.create',
  'project.set',
  'key.create',
  'key.revoke',
  'credit.grant',
  'credit.refund',
  'credit.purchase',
  'job.cancel',
  'job.resolve',
  'version.expire',
  'subject.erase',
  'subject.import',
  'tenant.erase',
  'console.link',
  'member.setup',
  'member.join',
  'member.role',
  'member.remove',
  'member.uninvite',
  'session.start',
  'session.end',
  'session.endall',
  'job.learn',
  'job.ask',
  'version.activate',
] as const;

export type AuditAction = (typeof auditActions)[number];

/** A change, for the audit log. It never holds a secret or a caller's text, since events are kept for ever. */
export interface AuditEvent {
  readonly action: AuditAction;
  /** `null` if it belongs to no project. */
  readonly project_id: string | null;
  /** The id of what was changed. For a tenant, its name. */
  readonly target: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/**
 * Does an operator's work and records it, both or neither. `eventOf` derives the event from the outcome; `null` means
 * that nothing was changed.
 */
export async function audited<Outcome>(
  db: Kysely<Database>,
  operator: Operator,
  work: (trx: Transaction<Database>) => Promise<Outcome>,
  eventOf: (outcome: Outcome) => AuditEvent | null,
): Promise<Outcome> {
  return inTransaction<Outcome>(db, 'audit.recorded', async (trx) => {
    const outcome = await work(trx);
    const event = eventOf(outcome);
    if (event !== null) {
      const details = JSON.stringify(event.details);
      await trx
        .insertInto('audit_events')
        .values({ ...operator, ...event, details })
        .execute();
    }
    return outcome;
  });
}
