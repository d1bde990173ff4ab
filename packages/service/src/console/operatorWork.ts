import type { Kysely } from 'kysely';
import { audited } from '../audit/audited.js';
import type { Database } from '../db/schema.js';
import { resolveJob, type ResolveJobOutcome } from '../jobs/resolveJob.js';
import { grantCredit, type GrantCreditOutcome } from '../ledger/grantCredit.js';
import { operatorOfMember, type Member } from './members.js';

/** The work of operators in the console, each with its reason in the audit log. */

export async function resolveJobForMember(
  db: Kysely<Database>,
  member: Member,
  resolution: { readonly job_id: string; readonly charged_microusd: number; readonly reason: string },
): Promise<ResolveJobOutcome> {
  const { job_id, charged_microusd, reason } = resolution;
  return audited(
    db,
    { ...operatorOfMember(member), reason },
    (trx) => resolveJob(trx, job_id, charged_microusd),
    (outcome) => {
      if (outcome.kind !== 'resolved') return null;
      const { project_id, reserved_microusd } = outcome;
      return { action: 'job.resolve', project_id, target: job_id, details: { charged_microusd, reserved_microusd } };
    },
  );
}

export async function grantCreditForMember(
  db: Kysely<Database>,
  member: Member,
  grant: { readonly project_id: string; readonly amount_microusd: number; readonly reason: string },
): Promise<GrantCreditOutcome> {
  const { project_id, amount_microusd, reason } = grant;
  return audited(
    db,
    { ...operatorOfMember(member), reason },
    (trx) => grantCredit(trx, { project_id, amount_microusd, memo: 'granted by an operator' }),
    ({ kind }) =>
      kind === 'granted'
        ? { action: 'credit.grant', project_id, target: project_id, details: { amount_microusd } }
        : null,
  );
}
