import { createHash } from 'node:crypto';
import type { TenantId } from '@engraft/contract';
import type { JobRequest } from '../jobs/jobRequest.js';
import { canonicalJson } from './canonicalJson.js';

/** The parts that must agree for two model requests to be the same: "the input after normalisation". */
export interface FingerprintInput {
  /** Part of it, "so one key on two endpoints is a conflict". */
  readonly endpoint: string;
  /** "The tenant and subject as resolved." */
  readonly tenant_id: TenantId;
  readonly subject_id: string | null;
  /** "As sent": a replay after an activation is still the same request. */
  readonly adapter_version: string | undefined;
  /** The request with every default filled in, and with the output limit as requested. */
  readonly request: JobRequest;
}

export function fingerprint(input: FingerprintInput): Buffer {
  return createHash('sha256').update(canonicalJson(input)).digest();
}
