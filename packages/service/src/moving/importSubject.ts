import { baseVersion, currentPriceCard, limits, storageChargeMicrousd, type TenantId } from '@engraft/contract';
import type { Kysely, Transaction } from 'kysely';
import type { AdapterStore } from '../adapterStore/adapterStore.js';
import { lockAdapter, takeImportRecords } from '../adapterStore/keptAdapters.js';
import type { Database } from '../db/schema.js';
import { allowIdling, inTransaction, RolledBack } from '../db/transaction.js';
import { newId } from '../ids.js';
import { initialHostingSeconds } from '../jobs/completeLearning.js';
import { endJob, waived } from '../jobs/endJob.js';
import { insertJob } from '../jobs/insertJob.js';
import type { JobRequest } from '../jobs/jobRequest.js';
import { findOrMakeOwnKey } from '../keys/ownKey.js';
import { reserve } from '../ledger/reserve.js';
import { findOrCreateSubject, type SubjectRoute } from '../subjects/findOrCreateSubject.js';
import { lockRouting } from '../subjects/findSubject.js';
import { holdTenant } from '../tenants/lockTenant.js';
import { activateVersion } from '../versions/activateVersion.js';
import { readBaseModel } from '../versions/baseModel.js';
import { findRetainedOf } from '../versions/exportableVersions.js';
import { saveVersion } from '../versions/saveVersion.js';
import type { ReadSubject } from './readSubjectFile.js';
import type { ExportedVersion } from './subjectFile.js';

export interface SubjectImport extends ReadSubject {
  readonly project_id: string;
  readonly tenant_id: TenantId;
  /** The name of the subject here. */
  readonly name: string;
}

export interface ImportedVersion {
  readonly id: string;
  /** The version's id where it comes from. */
  readonly exported_id: string;
  /** The job whose outcome it is here. */
  readonly job_id: string;
}

export type ImportOutcome =
  /** `activated` is the id of the version that the subject, which used base, uses now. */
  | { readonly kind: 'imported'; readonly versions: readonly ImportedVersion[]; readonly activated: string | null }
  /** No worker has loaded a checkpoint yet. */
  | { readonly kind: 'model_unknown' }
  | { readonly kind: 'another_model'; readonly base_model_hash: string }
  /** The subject has a retained version of this adapter. */
  | { readonly kind: 'already_there'; readonly version_id: string }
  | { readonly kind: 'insufficient_credits'; readonly needed_microusd: number };

/**
 * Turns the versions of an exported subject into versions of this installation. Each is the outcome of a job of its
 * own, which ends at once and is charged for the first 24 hours of hosting, as after learning. Later the version is
 * renewed and expires like any other. The active one is activated if the subject uses base.
 * Everything is one transaction. In it, the adapters that `recordImport` has recorded before are put into the store
 * first, under the lock that keeps others from deleting them. If the import is refused then, the records are still
 * there, and retention deletes the adapters that nobody needs.
 */
export async function importSubject(
  db: Kysely<Database>,
  store: AdapterStore,
  subject: SubjectImport,
): Promise<ImportOutcome> {
  return inTransaction<ImportOutcome>(db, 'subject.imported', async (trx) => {
    const baseModelHash = await readBaseModel(trx);
    if (baseModelHash === null) return { kind: 'model_unknown' };
    if (baseModelHash !== subject.description.base_model_hash) {
      return { kind: 'another_model', base_model_hash: baseModelHash };
    }
    const adapterHashes = [...subject.adapters.keys()].sort();
    for (const adapterHash of adapterHashes) await lockAdapter(trx, adapterHash);
    await takeImportRecords(trx, adapterHashes);
    // The session is silent while files are copied, which may take long: the subject and the balance of the project
    // are locked only after it.
    await allowIdling(trx);
    for (const adapter of subject.adapters.values()) await store.keep(adapter);
    return saveVersions(trx, subject);
  });
}

async function saveVersions(
  trx: Transaction<Database>,
  { project_id, tenant_id, name, description }: SubjectImport,
): Promise<ImportOutcome | RolledBack<ImportOutcome>> {
  const { versions, base_model_hash, active_version_id } = description;
  await holdTenant(trx, { project_id, tenant_id });
  const route = await findOrCreateSubject(trx, { project_id, tenant_id, name });
  // Locked before the project's accounts, see `activateVersion`. What was active before the lock may be so no longer.
  const routing = await lockRouting(trx, route.id);
  // Whether the file was imported into this subject before.
  const there = await findRetainedOf(
    trx,
    route.id,
    versions.map(({ adapter_hash }) => adapter_hash),
  );
  if (there !== null) return new RolledBack<ImportOutcome>({ kind: 'already_there', version_id: there });
  const apiKeyId = await findOrMakeOwnKey(trx, { project_id, ...importKey });
  const imported: ImportedVersion[] = [];
  let activated: string | null = null;
  for (const version of versions) {
    const parent = imported.find(({ exported_id }) => exported_id === version.parent_version_id)?.id ?? null;
    const activate = version.id === active_version_id && routing.active_version_id === null;
    const saved = await saveImported(trx, version, {
      project_id,
      tenant_id,
      name,
      route,
      api_key_id: apiKeyId,
      base_model_hash,
      parent,
      activate,
      order: imported.length,
    });
    if (saved === 'insufficient_credits') {
      const neededMicrousd = versions.reduce((sum, each) => sum + firstDayMicrousd(each), 0);
      return new RolledBack<ImportOutcome>({ kind: saved, needed_microusd: neededMicrousd });
    }
    imported.push({ ...saved, exported_id: version.id });
    if (activate) activated = saved.id;
  }
  return { kind: 'imported', versions: imported, activated };
}

interface ImportPlace extends Pick<SubjectImport, 'project_id' | 'tenant_id' | 'name'> {
  readonly route: SubjectRoute;
  readonly api_key_id: string;
  readonly base_model_hash: string;
  /** `null` for base, or for a version that did not come along. */
  readonly parent: string | null;
  readonly activate: boolean;
  /** Among the versions that come along. */
  readonly order: number;
}

async function saveImported(
  trx: Transaction<Database>,
  version: ExportedVersion,
  place: ImportPlace,
): Promise<Omit<ImportedVersion, 'exported_id'> | 'insufficient_credits'> {
  const { project_id, tenant_id, route, api_key_id, base_model_hash, parent, activate, order } = place;
  const jobId = newId('job');
  const storageMicrousd = firstDayMicrousd(version);
  const request: JobRequest = { kind: 'internalization', content: '', max_cost_microusd: storageMicrousd, activate };
  await insertJob(trx, {
    id: jobId,
    project_id,
    tenant_id,
    subject_ref: route.id,
    subject_name: place.name,
    api_key_id,
    adapter_version: parent ?? baseVersion,
    request,
    pricing_version: currentPriceCard.version,
    reserved_microusd: storageMicrousd,
  });
  const reservation = await reserve(trx, { project_id, job_id: jobId, amount_microusd: storageMicrousd });
  if (reservation.kind !== 'reserved') return reservation.kind;
  const { adapter_hash, size_bytes, passed_count, total_count, rehearsal } = version;
  const { id } = await saveVersion(trx, {
    subject_ref: route.id,
    parent_version_id: parent,
    source_job_id: jobId,
    adapter_hash,
    base_model_hash,
    size_bytes,
    passed_count,
    total_count,
    rehearsal,
    hosting_hours: limits.initialHostingHours,
    order,
  });
  if (activate) {
    const activation = await activateVersion(trx, { subject_ref: route.id, version_id: id, expected_version_id: null });
    if (activation.kind !== 'activated') throw new Error(`an imported version cannot be activated: ${activation.kind}`);
  }
  const result = {
    ...reportOf(version),
    candidate: { version_id: id },
    activated: activate,
    activation_conflict: false,
  };
  const job = { id: jobId, project_id, request };
  await endJob(trx, job, {
    ...waived,
    storage_microusd: storageMicrousd,
    status: 'ready',
    result,
    error_code: null,
    memo: 'import',
  });
  return { id, job_id: jobId };
}

function firstDayMicrousd({ size_bytes }: ExportedVersion): number {
  return storageChargeMicrousd(size_bytes, initialHostingSeconds, currentPriceCard);
}

function reportOf({ report, passed_count, total_count }: ExportedVersion): NonNullable<ExportedVersion['report']> {
  const counts = { base_passed_count: 0, retention_passed_count: 0, retention_total_count: 0 };
  return (
    report ?? {
      validation: { passed: true, passed_count, total_count, ...counts },
      training: { steps: 0, tokens: 0, final_loss: 0 },
    }
  );
}

const importKey = { name: 'engraft import', scopes: ['adapters'] } as const;
