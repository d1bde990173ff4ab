import type { Kysely } from 'kysely';
import type { TurnContext } from '../admission/admitInTurn.js';
import { admitJob, type AdmissionOutcome, type ModelOperation } from '../admission/admitJob.js';
import { audited } from '../audit/audited.js';
import type { Database } from '../db/schema.js';
import { createKey, type CreateKeyOutcome, type NewKey } from '../keys/createKey.js';
import { findOrMakeOwnKey } from '../keys/ownKey.js';
import { revokeKey, type RevokeKeyOutcome } from '../keys/revokeKey.js';
import {
  activateInNamespace,
  type ActivateInNamespaceOutcome,
  type ActivationInNamespace,
} from '../versions/activateInNamespace.js';
import { consoleKey } from './consoleKey.js';
import { operatorOfMember, type Member } from './members.js';

/** Members' changes in a project, by the domain functions of the API and the commands, each with its audit event. */

/** The same admission as over the API, for a member in place of a key. */
export function admitForMember(
  { onAdmitted, turns, ...context }: TurnContext,
  member: Member,
  projectId: string,
  operation: Omit<ModelOperation, 'key'>,
): Promise<AdmissionOutcome> {
  return turns.take(projectId, async () => {
    const outcome = await audited<AdmissionOutcome>(
      context.db,
      operatorOfMember(member),
      async (trx) => {
        const id = await findOrMakeOwnKey(trx, { project_id: projectId, ...consoleKey });
        const key = { id, project_id: projectId, is_own: true };
        return admitJob({ ...context, db: trx }, { ...operation, key });
      },
      (admitted) =>
        admitted.kind === 'admitted'
          ? {
              action: operation.request.kind === 'inference' ? 'job.ask' : 'job.learn',
              project_id: projectId,
              target: admitted.job_id,
              details: {},
            }
          : null,
    );
    // Only once it is committed.
    if (outcome.kind === 'admitted') onAdmitted?.(operation.request.kind);
    return outcome;
  });
}

export async function activateForMember(
  db: Kysely<Database>,
  member: Member,
  activation: ActivationInNamespace,
): Promise<ActivateInNamespaceOutcome> {
  return audited(
    db,
    operatorOfMember(member),
    (trx) => activateInNamespace(trx, activation),
    (outcome) => {
      if (outcome.kind !== 'activated') return null;
      const { project_id, version_id, expected_version_id } = activation;
      const details = { replaced_version_id: expected_version_id, revision: outcome.revision };
      return { action: 'version.activate', project_id, target: version_id, details };
    },
  );
}

export async function createKeyForMember(db: Kysely<Database>, member: Member, key: NewKey): Promise<CreateKeyOutcome> {
  return audited(
    db,
    operatorOfMember(member),
    (trx) => createKey(trx, key),
    (outcome) => {
      if (outcome.kind !== 'created') return null;
      const { project_id, ...details } = key;
      return { action: 'key.create', project_id, target: outcome.key.id, details };
    },
  );
}

export async function revokeKeyForMember(
  db: Kysely<Database>,
  member: Member,
  { key_id, project_id }: { readonly key_id: string; readonly project_id: string },
): Promise<RevokeKeyOutcome> {
  return audited(
    db,
    operatorOfMember(member),
    (trx) => revokeKey(trx, key_id, { project_id }),
    (outcome) => {
      if (outcome.kind !== 'revoked' || !outcome.changed) return null;
      const { name, revoked_at } = outcome.key;
      return { action: 'key.revoke', project_id, target: key_id, details: { name, revoked_at } };
    },
  );
}
