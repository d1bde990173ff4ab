import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';

export type ExportableVersion = Awaited<ReturnType<typeof findExportableVersions>>[number];

/** The retained versions of a subject with the results of the jobs that made them, oldest first. */
export function findExportableVersions(db: Kysely<Database>, subjectRef: string) {
  return (
    db
      .selectFrom('versions')
      .innerJoin('jobs', 'jobs.id', 'versions.source_job_id')
      .select(['versions.id', 'versions.parent_version_id', 'versions.created_at', 'versions.adapter_hash'])
      .select(['versions.size_bytes', 'versions.passed_count', 'versions.total_count', 'versions.rehearsal'])
      .select(['versions.base_model_hash', 'jobs.result'])
      .where('versions.subject_ref', '=', subjectRef)
      .where('versions.retention_ended_at', 'is', null)
      .where('versions.files_deleted_at', 'is', null)
      .orderBy('versions.created_at')
      // Versions of one import may have the same time. Their jobs were made in their order.
      .orderBy('jobs.sequence')
      .execute()
  );
}

/** A retained version of the subject that has one of these adapters, if there is one. */
export async function findRetainedOf(
  db: Kysely<Database>,
  subjectRef: string,
  adapterHashes: readonly string[],
): Promise<string | null> {
  const row = await db
    .selectFrom('versions')
    .select('id')
    .where('subject_ref', '=', subjectRef)
    .where('retention_ended_at', 'is', null)
    .where('adapter_hash', 'in', adapterHashes)
    .executeTakeFirst();
  return row?.id ?? null;
}
