import type { CrashPoint } from '@engraft/service/testing/crashOrder.js';
import { answerWith, dieInTheMiddle, refuseWith } from '@engraft/service/testing/faultyTeacher.js';
import type { BucketCrashPoint } from './bucketDrives.js';
import {
  at,
  cancelled,
  command,
  damaged,
  damagedInStore,
  deletion,
  elsewhere,
  erasure,
  firstStart,
  longAgo,
  lost,
  monthsAgo,
  onAdmission,
  orphanedJob,
  passage,
  project,
  question,
  remnant,
  start,
  stopped,
  subjectImport,
  unknownCall,
  versionsAre,
  type Drive,
} from './driveKinds.js';

/** One for each crash point, but for those of `bucketDrives.ts`: a new one without a drive does not compile. */
export const drives: Readonly<Record<Exclude<CrashPoint, BucketCrashPoint>, Drive>> = {
  'data_folder.made': firstStart,
  'migration.committed': firstStart,
  'role.created': firstStart,
  'role.prepared': firstStart,
  'role.granted': firstStart,
  'project.created': firstStart,
  'credit.granted': firstStart,
  'credit.refunded': {
    by: 'command',
    args: async (test) => {
      await test.version();
      return ['credit', 'refund', '--job', test.last_job_id, '--reason', 'it was killed'];
    },
  },
  'default_key.written': firstStart,
  'default_key.named': firstStart,
  'key.created': firstStart,
  'store.marked': firstStart,
  'folder.made': passage,
  'project.set': command('project', 'set', 'default', 'requests_per_minute=6000'),
  'key.revoked': {
    by: 'command',
    args: async ({ service }) => {
      const { printed } = await service.command(['key', 'create', ...project]);
      return ['key', 'revoke', (printed as { id: string }).id];
    },
  },
  'key.use_recorded': {
    ...question,
    prepare: async ({ database }) => {
      await database.query('UPDATE api_keys SET last_used_at = NULL');
    },
  },
  'request.counted': question,
  'bucket.shortened': {
    ...question,
    prepare: async ({ database }) => {
      await database.query(`UPDATE rate_limits SET full_at = now() + interval '75 seconds'`);
    },
  },
  'clock.observed': start,
  'leases.shortened': start,
  'leases.ended': orphanedJob,
  'base_model.recorded': start,
  'adapter.model_recorded': versionsAre('base_model_hash = NULL'),
  'address.folder_made': start,
  'address.dead_removed': start,
  'address.named': start,
  'address.withdrawn': {
    by: 'work',
    act: (test) => {
      test.service.signal('SIGTERM');
      return Promise.resolve();
    },
  },
  'audit.recorded': command('project', 'set', 'default', 'requests_per_minute=6000'),
  'admission.committed': passage,
  'job.claimed': passage,
  'lease.extended': { ...stopped, act: (test) => test.setScript('slow', true).then(() => test.ask()) },
  // Teaching, scoring, training, evaluating, saving and settling.
  'phase.entered': at([1, 2, 3, 4, 5, 6], passage),
  'job.released': stopped,
  'job.failed': onAdmission(`expires_at = now(), retention_ended_at = now(), retention_ended_by = 'operator'`),
  'inference.settled': question,
  'learning.begun': passage,
  'teacher_call.begun': elsewhere(answerWith('1. Which is stone 0?')),
  'teacher_call.made': elsewhere(answerWith('1. Which is stone 0?')),
  'teacher_call.withdrawn': elsewhere(refuseWith(401)),
  'teacher_call.answered': elsewhere(answerWith('1. Which is stone 0?')),
  'reconciliation.required': elsewhere(dieInTheMiddle),
  'job.cancelled': cancelled,
  'job.resolved': unknownCall,
  'snapshot.written': stopped,
  'training.recorded': stopped,
  // Teaching, scoring, training and evaluating; only training has files.
  'phase.done': at([1, 3], passage),
  'phase.stored': at([1, 2, 3, 4], passage),
  'adapter.recorded': passage,
  'copy.begun': passage,
  'copy.file_synced': at([1, 2], passage),
  'copy.room_made': damagedInStore,
  'copy.damaged_set_aside': damagedInStore,
  'copy.named': passage,
  'copy.cleaned': at([1, 2], passage),
  'adapter.left_recorded': lost,
  'adapter.marked_damaged': damaged,
  'adapter.marked_intact': passage,
  'learning.settled': passage,
  'work.claim_removed': {
    ...passage,
    prepare: (test) => test.setScript('disk-full', true),
    repair: (test) => test.setScript('disk-full', false),
  },
  'work.removed': passage,
  'version.activated': {
    by: 'work',
    act: async (test) => {
      const { id } = await test.version();
      await test.service.client.adapters.activate({ version_id: id, expected_version_id: id }).catch(() => undefined);
    },
  },
  'version.expired': {
    by: 'command',
    args: async (test) => ['version', 'expire', (await test.version()).id],
  },
  'import.recorded': subjectImport,
  'subject.imported': subjectImport,
  'subject.erased': erasure,
  'tenant.erased': {
    by: 'command',
    args: async ({ service }) => {
      await service.command(['key', 'create', '--tenant', 'acme', ...project]);
      return ['tenant', 'erase', 'acme', ...project];
    },
  },
  'version.deadline_settled': onAdmission(`expires_at = now() - interval '1 hour'`),
  'hosting.renewed': versionsAre(`expires_at = now() + interval '30 minutes'`),
  'deadlines.corrected': versionsAre(`expires_at = now() + interval '10 days'`),
  'deletion.prepared': deletion,
  'deletion.renamed': deletion,
  'deletion.removed': deletion,
  'adapter.deletion_recorded': deletion,
  'jobs.forgotten': longAgo,
  'archive.begun': monthsAgo,
  'archive.written': monthsAgo,
  'archive.moved': monthsAgo,
  'rehearsals.forgotten': deletion,
  'remnant.removed': remnant,
};
