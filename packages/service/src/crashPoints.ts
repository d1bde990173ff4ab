import { channel } from 'node:diagnostics_channel';

/**
 * Every boundary between two durable effects, with what has just become durable when a process passes it. A process may
 * die at any of them, and the next one must repair what it left. `test/crash/crashPoints.test.ts` kills a process at
 * each. `test/crash/boundaries.test.ts` finds effects in the source that no name follows.
 */
export const crashPoints = {
  'migration.committed': 'the newest schema',
  'role.created': 'the role of the service, without rights',
  'role.prepared': 'what the role lacked, its login or its rights',
  'role.granted': 'the right of the owner of the tables to work as the role',
  'data_folder.made': 'one folder of the path to the data folder',
  'folder.made': 'a folder in the data folder',
  'project.created': 'a project with its accounts',
  'project.set': 'settings of a project',
  'credit.granted': 'credit of a project',
  'credit.refunded': 'that a project has back what it was charged',
  'default_key.written': 'the secret of the first key, under a passing name',
  'default_key.named': 'the secret of the first key',
  'key.created': 'an API key',
  'key.revoked': 'the end of an API key',
  'key.use_recorded': 'when an API key was used',
  'request.counted': 'one request less of the minute',
  'bucket.shortened': 'that a bucket is full within a minute',
  'clock.observed': 'the time that was seen',
  'leases.shortened': 'leases that ended too far ahead',
  'leases.ended': 'leases of the service that died before',
  'base_model.recorded': 'the checkpoint that jobs run on',
  'adapter.model_recorded': 'the checkpoint that an adapter was trained on',
  'address.folder_made': 'the folder of addresses',
  'address.dead_removed': 'the end of the address of a service that died',
  'address.named': 'where the service listens',
  'address.withdrawn': 'the end of the address of a service that stops',
  'audit.recorded': 'a change by an operator, with its record',
  'admission.committed': 'a job with its idempotency key and its reservation',
  'job.claimed': 'the lease of a job',
  'lease.extended': 'a longer lease of a job',
  'phase.entered': 'what a job is doing',
  'job.released': 'that a job waits again',
  'job.failed': 'the end of a job that costs nothing',
  'inference.settled': 'an answer and its charge',
  'learning.begun': 'the checkpoint that a job is begun on',
  'teacher_call.begun': 'that a teacher elsewhere is about to be asked',
  'teacher_call.made': 'what the teacher elsewhere did, there',
  'teacher_call.withdrawn': 'that the teacher elsewhere did nothing',
  'teacher_call.answered': 'the receipt of the teacher elsewhere',
  'reconciliation.required': 'that nobody knows what a job costs',
  'job.cancelled': 'the end of a job, by an operator',
  'job.resolved': 'what an operator found a job to cost',
  'snapshot.written': 'a snapshot of a training, in its work folder',
  'training.recorded': 'how far a training has come',
  'phase.done': 'the files of a phase of learning, in its work folder',
  'phase.stored': 'the outcome of a phase of learning',
  'adapter.recorded': 'that a job is about to keep an adapter',
  'store.marked': 'the mark of the store of adapters',
  'copy.begun': 'the folder of a copy of an adapter, under a passing name',
  'copy.file_synced': 'one file of the copy',
  'copy.room_made': 'a passing name that is free again',
  'copy.damaged_set_aside': 'the passing name of a damaged adapter, whose place is free now',
  'copy.named': 'an adapter in the store',
  'copy.cleaned': 'the end of what a copy left under a passing name',
  'bucket.marked': 'the mark of the store of adapters, in its bucket',
  'upload.object_stored': 'one file of an adapter, in the bucket',
  'copies.folder_made': 'the folder of copies of a process',
  'copies.passing_removed': 'the end of what an earlier process was about to fetch or to remove',
  'copies.fetch_begun': 'the folder of a copy, under a passing name',
  'copies.file_fetched': 'one file of a copy',
  'copies.fetched': 'a copy of an adapter on this machine',
  'copies.cleaned': 'the end of what a fetch left under a passing name',
  'copies.set_aside': 'the passing name of a copy that has to go',
  'copies.removed': 'the end of the copy',
  'copies.left': 'the end of the copies of a process that others do not need',
  'adapter.left_recorded': 'that an adapter was kept for a job that had passed to another worker',
  'adapter.marked_damaged': 'that versions have a damaged adapter',
  'adapter.marked_intact': 'that versions have a whole adapter',
  'learning.settled': 'a version, its activation and the charge',
  'work.claim_removed': 'the end of the files of one claim',
  'work.removed': 'the end of the work folder of a job',
  'version.activated': 'the active version of a subject',
  'version.expired': 'the end of a version, by an operator',
  'import.recorded': 'that adapters of another installation are about to be kept',
  'subject.imported': 'the versions of a subject of another installation',
  'subject.erased': 'the end of a subject, with its versions and what its jobs said',
  'tenant.erased': 'the end of all that a tenant had',
  'version.deadline_settled': 'the deadline of a version that is needed now',
  'hosting.renewed': 'a later deadline of a version and its charge, or its end',
  'deadlines.corrected': 'deadlines that a wrong clock had set',
  'deletion.prepared': 'the end of what an earlier deletion left',
  'deletion.renamed': 'the passing name of an adapter that nobody needs',
  'deletion.removed': 'the end of its files',
  'deletion.object_removed': 'the end of one file of an adapter in the bucket',
  'adapter.deletion_recorded': 'that the files of its versions are gone',
  'jobs.forgotten': 'the end of what jobs of long ago said',
  'rehearsals.forgotten': 'the end of questions that nobody would rehearse any more',
  'remnant.removed': 'the end of what a copy or a deletion left long ago',
} as const satisfies Readonly<Record<string, string>>;

export type CrashPoint = keyof typeof crashPoints;

/** Only `testing/dieAtCrashPoint.ts` subscribes to it, so that no setting of a service can make it crash. */
export const crashPointChannel = 'engraft:crash-point';

const passed = channel(crashPointChannel);

/** Call it right after the effect. */
export function crashPoint(name: CrashPoint): void {
  passed.publish(name);
}
