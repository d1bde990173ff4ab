import type { TenantId } from '@engraft/contract';
import type { Kysely, Transaction } from 'kysely';
import { audited } from '../audit/audited.js';
import type { Operator } from '../audit/operator.js';
import type { Database } from '../db/schema.js';
import { crashPointOnceCommitted } from '../db/transaction.js';
import { eraseJobs, findJobsOfSubject } from '../jobs/eraseJobs.js';
import { findSubject, lockSubject } from '../subjects/findSubject.js';
import { cancelJobs, type Erased, eraseWithVersions } from './erase.js';

export interface SubjectToErase {
  readonly project_id: string;
  readonly tenant_id: TenantId;
  /** `subject_id` on the wire. */
  readonly name: string;
}

export type EraseSubjectOutcome =
  { readonly kind: 'erased'; readonly subject_ref: string; readonly erased: Erased } | { readonly kind: 'not_found' };

/**
 * Erases a subject. Its open jobs end without charge, and its versions, its jobs' answers and its name are gone. The
 * ledger stays. A new subject may have the same name.
 */
export async function eraseSubject(
  db: Kysely<Database>,
  operator: Operator,
  subject: SubjectToErase,
): Promise<EraseSubjectOutcome> {
  // Comes before the subject is locked, since ending a job locks the job before its subject.
  const found = await findSubject(db, subject);
  if (found === null) return { kind: 'not_found' };
  await cancelJobs(db, operator, await findJobsOfSubject(db, { ...subject, subject_ref: found.id }, 'open'));
  return audited<EraseSubjectOutcome>(
    db,
    operator,
    (trx) => erase(trx, operator, subject),
    (outcome) => {
      if (outcome.kind === 'not_found') return null;
      const { project_id, tenant_id, name } = subject;
      const details = { tenant_id, subject_id: name, ...outcome.erased };
      return { action: 'subject.erase', project_id, target: outcome.subject_ref, details };
    },
  );
}

async function erase(
  trx: Transaction<Database>,
  operator: Operator,
  subject: SubjectToErase,
): Promise<EraseSubjectOutcome> {
  // Waits for admissions under way. Later ones find no subject of this name.
  const found = await lockSubject(trx, subject);
  if (found === null) return { kind: 'not_found' };
  const ofSubject = { ...subject, subject_ref: found.id };
  await cancelJobs(trx, operator, await findJobsOfSubject(trx, ofSubject, 'open'));
  const jobs = await findJobsOfSubject(trx, ofSubject, 'all');
  const versions = await eraseWithVersions(trx, [found.id]);
  await eraseJobs(trx, jobs);
  crashPointOnceCommitted(trx, 'subject.erased');
  return { kind: 'erased', subject_ref: found.id, erased: { subjects: 1, versions, jobs: jobs.length } };
}
