import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { CrashPoint } from '@engraft/service/testing/crashOrder.js';
import { answerWith, dieInTheMiddle, refuseWith } from '@engraft/service/testing/faultyTeacher.js';
import type { CrashTest } from './crashTest.js';

/** How a process comes to pass a crash point. */
export type Drive = {
  /** While the service runs, before a process is armed. */
  readonly prepare?: (test: CrashTest) => Promise<void>;
  /** Between the crash and the start after it. */
  readonly repair?: (test: CrashTest) => Promise<void>;
  /** At which passings it dies, each time anew; at the first unless told. */
  readonly passings?: readonly number[];
} & (
  | { readonly by: 'start' }
  | { readonly by: 'work'; readonly act: (test: CrashTest) => Promise<void> }
  | { readonly by: 'command'; readonly args: (test: CrashTest) => Promise<readonly string[]> }
  /** In this order, of a new installation. */
  | { readonly by: 'first start' }
);

const first_start: Drive = { by: 'first start' };
const start: Drive = { by: 'start' };
const question: Drive = { by: 'work', act: (test) => test.ask() };
const passage: Drive = { by: 'work', act: (test) => test.learn() };
const at = (passings: readonly number[], drive: Drive): Drive => ({ ...drive, passings });

const elsewhere = (reply: Parameters<typeof setReply>[1]): Drive => ({
  by: 'work',
  act: async (test) => {
    setReply(test, reply);
    await test.learn('Three stones lie elsewhere, so that somebody else is to ask about them.');
  },
  repair: (test) => {
    setReply(test, answerWith('1. Which is stone 0?'));
    return Promise.resolve();
  },
});

function setReply({ teacher }: CrashTest, reply: (typeof teacher)['reply']): void {
  teacher.reply = reply;
}

/** A learning job that trains, and a service that is told to stop. */
const stopped: Drive = {
  by: 'work',
  act: async (test) => {
    await test.setScript('slow', true);
    await test.learn();
    await test.waits('step');
    test.service.signal('SIGTERM');
  },
  repair: (test) => test.setScript('slow', false),
};

/** Something happens to versions in the moment in which a question about one of them is admitted. */
const onAdmission = (change: string): Drive => ({
  by: 'work',
  act: async (test) => {
    const version = await test.version();
    await test.database.query(
      `CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN UPDATE versions SET ${change} WHERE id = NEW.adapter_version; RETURN NEW; END $$;
       CREATE TRIGGER meddle AFTER INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION meddle()`,
    );
    await test.ask(version);
  },
  repair: dropMeddling,
});

async function dropMeddling(test: CrashTest): Promise<void> {
  await test.database.query('DROP FUNCTION meddle CASCADE');
}

/** The worker loses its job when it has recorded the adapter that it is about to keep. */
const lost: Drive = {
  by: 'work',
  act: async (test) => {
    await test.database.query(
      `CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN UPDATE jobs SET fencing_token = fencing_token + 1 WHERE id = NEW.job_id; RETURN NEW; END $$;
       CREATE TRIGGER meddle AFTER INSERT ON kept_adapters FOR EACH ROW EXECUTE FUNCTION meddle()`,
    );
    await test.learn();
  },
  repair: dropMeddling,
};

const versionsAre = (change: string): Drive => ({
  by: 'start',
  prepare: async (test) => {
    const { id } = await test.version();
    await test.database.query(`UPDATE versions SET ${change} WHERE id = $1`, [id]);
  },
});

/** Its files have not been needed for eight days. */
const deletion = versionsAre(
  `expires_at = now() - interval '8 days', retention_ended_at = now() - interval '8 days', retention_ended_by = 'operator'`,
);

/** A copy that was cut short before it had its name was damaged since, at that name. */
const damagedInStore: Drive = {
  by: 'start',
  prepare: async (test) => {
    await test.service.arm({ crash_point: 'copy.named', passing: 1 });
    await test.learn();
    await test.service.died();
    const { rows } = await test.database.query<{ adapter_hash: string }>(
      'SELECT adapter_hash FROM kept_adapters ORDER BY created_at DESC LIMIT 1',
    );
    const name = rows[0]?.adapter_hash.replace(':', '-') ?? '';
    await writeFile(path.join(test.data_folder, 'adapters', name, 'adapter_model.safetensors'), 'damaged');
  },
};

const damaged: Drive = {
  by: 'work',
  act: async (test) => {
    const version = await test.version();
    await writeFile(path.join(version.folder, 'adapter_model.safetensors'), 'damaged');
    await test.ask(version);
  },
  // It stays so: the version is given up.
  repair: async (test) => {
    await test.database.query(
      `UPDATE versions SET expires_at = now() - interval '9 days', retention_ended_at = now() - interval '9 days',
         retention_ended_by = 'operator' WHERE damaged_at IS NOT NULL`,
    );
  },
};

const remnant: Drive = {
  by: 'start',
  prepare: async (test) => {
    await mkdir(path.join(test.data_folder, 'adapters', '.keeping-something'));
    await test.ageRemnants();
  },
};

const orphanedJob: Drive = {
  by: 'start',
  prepare: async (test) => {
    await test.setScript('slow', true);
    await test.ask();
    await test.until(`SELECT FROM jobs WHERE id = $1 AND status = 'running'`, [test.last_job_id]);
  },
  repair: (test) => test.setScript('slow', false),
};

const unknownCall: Drive = {
  by: 'command',
  prepare: async (test) => {
    setReply(test, dieInTheMiddle);
    await test.learn('Three stones lie elsewhere, and nobody says what asking about them has cost.');
    await test.until(`SELECT FROM jobs WHERE id = $1 AND status = 'reconciliation_required'`, [test.last_job_id]);
    setReply(test, answerWith('1. Which is stone 0?'));
  },
  args: (test) => Promise.resolve(['job', 'resolve', test.last_job_id, '--release']),
};

const command = (...args: readonly string[]): Drive => ({ by: 'command', args: () => Promise.resolve(args) });
const project = ['--project', 'default'] as const;

/** One for each crash point: a new one without a drive does not compile. */
export const drives: Readonly<Record<CrashPoint, Drive>> = {
  'data_folder.made': first_start,
  'migration.committed': first_start,
  'role.created': first_start,
  'role.prepared': first_start,
  'role.granted': first_start,
  'project.created': first_start,
  'credit.granted': first_start,
  'default_key.written': first_start,
  'default_key.named': first_start,
  'key.created': first_start,
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
  'job.resolved': unknownCall,
  'snapshot.written': stopped,
  'training.recorded': stopped,
  // Of teaching, scoring, training and evaluating; only training has files.
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
  'version.looked_after': onAdmission(`expires_at = now() - interval '1 hour'`),
  'hosting.renewed': versionsAre(`expires_at = now() + interval '30 minutes'`),
  'deadlines.corrected': versionsAre(`expires_at = now() + interval '10 days'`),
  'deletion.prepared': deletion,
  'deletion.renamed': deletion,
  'deletion.removed': deletion,
  'adapter.deletion_recorded': deletion,
  'remnant.removed': remnant,
};
