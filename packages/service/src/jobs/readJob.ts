import type { Job, TenantId } from '@engraft/contract';
import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { isId } from '../ids.js';
import type { AuthenticatedKey } from '../keys/authenticate.js';
import { decideJobAccess } from './decideJobAccess.js';
import { jobResourceColumns, toJobResource } from './jobResource.js';

export type ReadJobOutcome =
  | { readonly kind: 'visible'; readonly job: Job }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'insufficient_scope' };

/** The job with this id, if the key may read it in the selected tenant. */
export async function readJob(
  db: Kysely<Database>,
  key: AuthenticatedKey,
  tenantId: TenantId,
  jobId: string,
): Promise<ReadJobOutcome> {
  const row = isId('job', jobId)
    ? await db
        .selectFrom('jobs')
        .select(jobResourceColumns)
        .select('api_key_id')
        .where('id', '=', jobId)
        .where('project_id', '=', key.project_id)
        .where('forgotten_at', 'is', null)
        .executeTakeFirst()
    : undefined;
  const access = decideJobAccess({ key_id: key.id, scopes: key.scopes }, tenantId, row ?? null);
  if (access !== 'visible') return { kind: access };
  if (row === undefined) throw new Error('a job that does not exist is visible');
  return { kind: 'visible', job: toJobResource(row) };
}
