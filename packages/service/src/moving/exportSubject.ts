import { existsSync } from 'node:fs';
import { learningResult, type TenantId } from '@engraft/contract';
import { rehearsalSchema, type Rehearsal } from '@engraft/learning';
import type { Kysely } from 'kysely';
import type { AdapterStore } from '../adapterStore/adapterStore.js';
import { holdingAdapters } from '../backup/holdingAdapters.js';
import { readAdapter } from '../backup/readAdapters.js';
import { checkSeal } from '../backup/seal.js';
import { tarEnd, tarFile } from '../backup/tar.js';
import { writeArchive } from '../backup/writeArchive.js';
import type { Database } from '../db/schema.js';
import { findSubject } from '../subjects/findSubject.js';
import { readEarlierRehearsals } from '../versions/earlierRehearsals.js';
import { findExportableVersions, type ExportableVersion } from '../versions/exportableVersions.js';
import { descriptionName, formatVersion, type ExportedVersion, type SubjectDescription } from './subjectFile.js';

export interface SubjectExport {
  readonly project_id: string;
  readonly tenant_id: TenantId;
  readonly name: string;
  /** Exports all retained versions of the active one's checkpoint, not the active one alone. */
  readonly all: boolean;
  readonly file: string;
  readonly engraft_version: string;
}

export type ExportOutcome =
  | { readonly kind: 'exported'; readonly bytes: number; readonly description: SubjectDescription }
  | { readonly kind: 'not_found' }
  /** It has no retained active version, so there is nothing to export. */
  | { readonly kind: 'uses_base' }
  /** Existing files are not overwritten. */
  | { readonly kind: 'file_exists' }
  /** Nobody has recorded what its active version was trained on. */
  | { readonly kind: 'model_unknown' }
  | { readonly kind: 'adapter_damaged'; readonly version_id: string };

class AdapterDamaged extends Error {
  constructor(readonly version_id: string) {
    super('the adapter of a version is not whole');
  }
}

/**
 * Writes what a subject has learned into a file: its adapters, and what later learning will rehearse. It has no
 * passage.
 */
export async function exportSubject(
  db: Kysely<Database>,
  store: AdapterStore,
  subject: SubjectExport,
): Promise<ExportOutcome> {
  return holdingAdapters(db, async () => {
    const described = await describe(db, subject);
    if ('kind' in described) return described;
    const { file } = subject;
    if (existsSync(file)) return { kind: 'file_exists' };
    const check = async (partial: string): Promise<void> => {
      await checkSeal(partial, () => undefined);
    };
    try {
      const { bytes } = await writeArchive(file, archiveOf(store, described), check);
      return { kind: 'exported', bytes, description: described };
    } catch (error) {
      if (error instanceof AdapterDamaged) return { kind: 'adapter_damaged', version_id: error.version_id };
      throw error;
    }
  });
}

async function* archiveOf(store: AdapterStore, description: SubjectDescription): AsyncGenerator<Uint8Array> {
  const text = Buffer.from(JSON.stringify(description, null, 2));
  yield* tarFile(descriptionName, text.byteLength, [text]);
  const written = new Set<string>();
  for (const { id, adapter_hash } of description.versions) {
    if (written.has(adapter_hash)) continue;
    written.add(adapter_hash);
    const files = yield* readAdapter(store, adapter_hash, () => undefined);
    if (files === null) throw new AdapterDamaged(id);
  }
  yield tarEnd;
}

async function describe(
  db: Kysely<Database>,
  { project_id, tenant_id, name, all, engraft_version }: SubjectExport,
): Promise<SubjectDescription | Exclude<ExportOutcome, { kind: 'exported' }>> {
  const subject = await findSubject(db, { project_id, tenant_id, name });
  if (subject === null) return { kind: 'not_found' };
  const rows = await findExportableVersions(db, subject.id);
  const active = rows.find(({ id }) => id === subject.active_version_id);
  if (active === undefined) return { kind: 'uses_base' };
  const { base_model_hash } = active;
  if (base_model_hash === null) return { kind: 'model_unknown' };
  const taken = rows.filter((row) => (all ? row.base_model_hash === base_model_hash : row === active));
  const ids = new Set(taken.map(({ id }) => id));
  const versions: ExportedVersion[] = [];
  for (const row of taken) versions.push(await describeVersion(db, row, ids));
  return {
    format: 'engraft-subject',
    format_version: formatVersion,
    engraft_version,
    created_at: new Date().toISOString(),
    name,
    base_model_hash,
    active_version_id: active.id,
    versions,
  };
}

/** Questions that taught ancestors which stay behind are rehearsed as if they had taught this version. */
async function describeVersion(
  db: Kysely<Database>,
  { result, created_at, ...row }: ExportableVersion,
  taken: ReadonlySet<string>,
): Promise<ExportedVersion> {
  const hasParent = row.parent_version_id !== null && taken.has(row.parent_version_id);
  const own = rehearsalSchema.safeParse(row.rehearsal).data ?? { training_pairs: [], validation_pairs: [] };
  const taught = [...(hasParent ? [] : await readEarlierRehearsals(db, row.parent_version_id)), own];
  const report = learningResult.pick({ validation: true, training: true }).safeParse(result);
  const { id, adapter_hash, size_bytes, passed_count, total_count } = row;
  return {
    id,
    adapter_hash,
    size_bytes,
    passed_count,
    total_count,
    parent_version_id: hasParent ? row.parent_version_id : null,
    created_at: created_at.toISOString(),
    rehearsal: joinRehearsals(taught),
    report: report.data ?? null,
  };
}

/** One passage with sentences makes them all so, since only then later learning asks the version for its sentences. */
function joinRehearsals(taught: readonly Rehearsal[]): Rehearsal {
  const kinds = taught.flatMap(({ answers_with }) => answers_with ?? []);
  const answersWith = kinds.find((kind) => kind === 'sentences') ?? kinds[0];
  return {
    ...(answersWith === undefined ? {} : { answers_with: answersWith }),
    training_pairs: taught.flatMap(({ training_pairs }) => training_pairs),
    validation_pairs: taught.flatMap(({ validation_pairs }) => validation_pairs),
  };
}
