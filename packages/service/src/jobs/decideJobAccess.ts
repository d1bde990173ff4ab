import type { JobKind, Scope, TenantId } from '@engraft/contract';

/** Who asks for a job. */
export interface JobReader {
  readonly key_id: string;
  readonly scopes: readonly Scope[];
}

/** The job with the requested id in the project, if there is one. */
export interface JobOwnership {
  readonly tenant_id: TenantId;
  readonly api_key_id: string;
  readonly kind: JobKind;
}

export type JobAccess = 'visible' | 'not_found' | 'insufficient_scope';

const submittingScope: Readonly<Record<JobKind, Scope>> = { inference: 'inference', internalization: 'internalize' };

/**
 * "A key with `inference` or `internalize` can read jobs it submitted under that scope; other keys need `read` in the
 * same tenant." A key without `read` learns nothing about any other id, not even whether it exists: the answer is
 * always `insufficient_scope`. A key with `read` gets `not_found` for jobs outside its project and the selected tenant.
 */
export function decideJobAccess(reader: JobReader, tenantId: TenantId, job: JobOwnership | null): JobAccess {
  const inTenant = job !== null && job.tenant_id === tenantId;
  if (reader.scopes.includes('read')) return inTenant ? 'visible' : 'not_found';
  const submitted = inTenant && job.api_key_id === reader.key_id && reader.scopes.includes(submittingScope[job.kind]);
  return submitted ? 'visible' : 'insufficient_scope';
}
