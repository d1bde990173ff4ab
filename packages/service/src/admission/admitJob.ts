import { baseVersion, currentPriceCard, type JobKind, type TenantId } from '@engraft/contract';
import type { Kysely, Transaction } from 'kysely';
import type { Database } from '../db/schema.js';
import { inTransaction, RolledBack } from '../db/transaction.js';
import { claimIdempotencyKey, isIdempotencyKeyClaimed } from '../idempotency/claimIdempotencyKey.js';
import { fingerprint } from '../idempotency/fingerprint.js';
import { newId } from '../ids.js';
import { insertJob } from '../jobs/insertJob.js';
import type { JobRequest } from '../jobs/jobRequest.js';
import { isKeyUsable } from '../keys/authenticate.js';
import { reserve } from '../ledger/reserve.js';
import { type PriceOutcome, priceRequest, type PromptMeter } from '../pricing/priceRequest.js';
import { findOrCreateSubject } from '../subjects/findOrCreateSubject.js';
import { holdTenant } from '../tenants/lockTenant.js';
import { resolveVersion } from '../versions/resolveVersion.js';
import { checkMonthlyLimits } from './checkMonthlyLimits.js';
import { checkOpenJobs, type OpenJobLimits } from './checkOpenJobs.js';

/** Whether model work is accepted. `off` is the hosted preview; `not_configured` has no model or engine. */
export type Execution = 'on' | 'off' | 'not_configured';

export interface AdmissionContext extends PromptMeter {
  readonly db: Kysely<Database>;
  readonly execution: Execution;
  readonly open_jobs: OpenJobLimits;
  /** Called when a job of the kind waits, so that a worker in this process need not ask the database for it. */
  readonly onAdmitted?: (kind: JobKind) => void;
}

/** A model request that was read, authenticated and found to be consistent. */
export interface ModelOperation {
  readonly key: {
    readonly id: string;
    readonly project_id: string;
    /** One of our own, which is revoked from the start: see `ownKey.ts`. */
    readonly is_own?: boolean;
  };
  readonly tenant_id: TenantId;
  /** `null` for a chat completion without a subject, which runs on base. */
  readonly subject_id: string | null;
  /** The selector as sent. */
  readonly adapter_version: string | undefined;
  /** The path of the endpoint. */
  readonly endpoint: string;
  readonly idempotency_key: string;
  /** The key was just made, so this cannot be a replay. */
  readonly isNew?: boolean;
  /** With defaults filled in. */
  readonly request: JobRequest;
  /** The request's trace context, see `tracing.ts`. */
  readonly trace_context?: string | null;
}

export type AdmissionRefusal =
  | 'unauthorized'
  | 'idempotency_conflict'
  /** In chat: the same input came with this idempotency key before, under another API key. */
  | 'idempotency_key_of_another'
  | 'execution_unavailable'
  | 'not_configured'
  | 'project_queue_full'
  | 'service_queue_full'
  | 'not_found'
  | 'adapter_expired'
  | 'base_model_changed'
  | 'context_length_exceeded';

/** The money that is missing. */
export interface Shortfall {
  readonly kind: 'refused';
  readonly code: 'insufficient_credits' | 'spending_limit_reached' | 'monthly_capacity_reached';
  /** The amount that the job would have reserved. */
  readonly needed_microusd: number;
  /** The amount that was left for it. */
  readonly left_microusd: number;
}

export type AdmissionOutcome =
  | { readonly kind: 'admitted'; readonly job_id: string }
  /** The job of an identical earlier request, which came with the API key `api_key_id`. */
  | { readonly kind: 'replayed'; readonly job_id: string; readonly api_key_id: string }
  | { readonly kind: 'refused'; readonly code: AdmissionRefusal }
  | Shortfall;

/** The `subject_id` shown by a job without a subject. */
const noSubjectName = 'default';

/**
 * Admits a model operation as a durable job, or refuses it and leaves no trace. It is one transaction: "idempotent
 * replay (before anything that may have changed since: an identical replay succeeds even when the balance is now empty,
 * the version expired or execution is switched off) → execution switched off → version resolution → context ceiling →
 * money". A full queue is found before a version is resolved, or last of all. The reservation locks the project's
 * balance last and briefly, unless the version's hosting has to be settled first.
 */
export async function admitJob(context: AdmissionContext, operation: ModelOperation): Promise<AdmissionOutcome> {
  const pricing = pricingOf(operation, context);
  // Counts tokens outside the transaction, which must not wait for it. The result counts at its place in the order. A
  // replay needs none.
  if (!(await isReplay(context, operation))) await pricing().catch(() => undefined);
  const outcome = await inTransaction<AdmissionOutcome>(context.db, 'admission.committed', (trx) =>
    admit(trx, context, operation, pricing),
  );
  if (outcome.kind === 'admitted') context.onAdmitted?.(operation.request.kind);
  return outcome;
}

/** Whether its idempotency key was seen before, as far as can be told outside the transaction. */
async function isReplay({ db }: AdmissionContext, { key, tenant_id, idempotency_key, isNew }: ModelOperation) {
  if (isNew === true) return false;
  return isIdempotencyKeyClaimed(db, { project_id: key.project_id, tenant_id, key: idempotency_key });
}

type Pricing = () => Promise<PriceOutcome>;

/** Counts when it is first asked, and only once, however often the transaction is repeated. */
function pricingOf({ request }: ModelOperation, meter: PromptMeter): Pricing {
  let price: Promise<PriceOutcome> | null = null;
  return () => (price ??= priceRequest(request, meter, currentPriceCard));
}

async function admit(
  trx: Transaction<Database>,
  context: AdmissionContext,
  operation: ModelOperation,
  pricing: Pricing,
): Promise<AdmissionOutcome | RolledBack<AdmissionOutcome>> {
  const { key, tenant_id } = operation;
  const { project_id } = key;
  await holdTenant(trx, { project_id, tenant_id });
  // The key may have been revoked while the request's body was on its way.
  if (key.is_own !== true && !(await isKeyUsable(trx, key.id))) return refused('unauthorized');
  const jobId = newId('job');
  const claim = await claimIdempotencyKey(trx, {
    project_id,
    tenant_id,
    key: operation.idempotency_key,
    fingerprint_sha256: fingerprint({
      endpoint: operation.endpoint,
      tenant_id,
      subject_id: operation.subject_id,
      adapter_version: operation.adapter_version,
      request: operation.request,
    }),
    api_key_id: key.id,
    job_id: jobId,
  });
  if (claim.kind === 'conflict') return refused('idempotency_conflict');
  if (claim.kind === 'replay') return { ...claim, kind: 'replayed' };

  if (context.execution === 'off') return refused('execution_unavailable');
  if (context.execution === 'not_configured') return refused('not_configured');

  const room = await checkOpenJobs(trx, project_id, context.open_jobs);
  if (room !== 'within_limits') return refused(room);

  const route = await resolveRoute(trx, operation);
  if (route.kind !== 'resolved') return refused(route.kind);

  const price = await pricing();
  if (price.kind !== 'priced') return refused(price.kind);

  const { reserved_microusd } = price;
  await insertJob(trx, {
    id: jobId,
    project_id,
    tenant_id,
    subject_ref: route.subject_ref,
    subject_name: operation.subject_id ?? noSubjectName,
    api_key_id: key.id,
    adapter_version: route.adapter_version,
    request: price.request,
    pricing_version: currentPriceCard.version,
    reserved_microusd,
    trace_context: operation.trace_context ?? null,
  });
  const reservation = await reserve(trx, { project_id, job_id: jobId, amount_microusd: reserved_microusd });
  if (reservation.kind !== 'reserved') return tooLittle(reservation.kind, reserved_microusd, reservation.left_microusd);
  const limits = await checkMonthlyLimits(trx, project_id, operation.request.kind);
  if (limits.kind !== 'within_limits') {
    return tooLittle(limits.kind, reserved_microusd, limits.left_microusd + reserved_microusd);
  }
  const stillRoom = await checkOpenJobs(trx, project_id, context.open_jobs);
  if (stillRoom !== 'within_limits') return refused(stillRoom);
  return { kind: 'admitted', job_id: jobId };
}

type Route =
  | { readonly kind: 'resolved'; readonly subject_ref: string | null; readonly adapter_version: string }
  | { readonly kind: 'not_found' | 'adapter_expired' | 'base_model_changed' };

async function resolveRoute(trx: Transaction<Database>, operation: ModelOperation): Promise<Route> {
  const { key, tenant_id, subject_id, adapter_version, request } = operation;
  if (subject_id === null) return { kind: 'resolved', subject_ref: null, adapter_version: baseVersion };
  const subject = await findOrCreateSubject(trx, { project_id: key.project_id, tenant_id, name: subject_id });
  const version = await resolveVersion(trx, subject, adapter_version, { learns: request.kind === 'internalization' });
  return version.kind === 'resolved' ? { ...version, subject_ref: subject.id } : version;
}

function refused(code: AdmissionRefusal): RolledBack<AdmissionOutcome> {
  return new RolledBack<AdmissionOutcome>({ kind: 'refused', code });
}

function tooLittle(code: Shortfall['code'], neededMicrousd: number, leftMicrousd: number) {
  return new RolledBack<AdmissionOutcome>({
    kind: 'refused',
    code,
    needed_microusd: neededMicrousd,
    left_microusd: leftMicrousd,
  });
}
