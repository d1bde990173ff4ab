import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { answerWith, dieInTheMiddle } from '@engraft/service/testing/faultyTeacher.js';
import type { CrashTest } from './crashTest.js';

/** How a process comes to pass a crash point. */
export type Drive = {
  /** While the service runs, before a process is armed. */
  readonly prepare?: (test: CrashTest) => Promise<void>;
  /** Between the crash and the start after it. */
  readonly repair?: (test: CrashTest) => Promise<void>;
  /** The passings of the point at which the process dies, each time anew; the first unless told. */
  readonly passings?: readonly number[];
} & (
  | { readonly by: 'start' }
  | { readonly by: 'work'; readonly act: (test: CrashTest) => Promise<void> }
  | { readonly by: 'command'; readonly args: (test: CrashTest) => Promise<readonly string[]> }
  /** In this order, of a new installation. */
  | { readonly by: 'first start' }
);

export const firstStart: Drive = { by: 'first start' };
export const start: Drive = { by: 'start' };
export const question: Drive = { by: 'work', act: (test) => test.ask() };
export const passage: Drive = { by: 'work', act: (test) => test.learn() };
export const at = (passings: readonly number[], drive: Drive): Drive => ({ ...drive, passings });

export const elsewhere = (reply: Parameters<typeof setReply>[1]): Drive => ({
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
export const stopped: Extract<Drive, { by: 'work' }> = {
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
export const onAdmission = (change: string): Drive => ({
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
export const lost: Drive = {
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

export const versionsAre = (change: string): Drive => ({
  by: 'start',
  prepare: async (test) => {
    const { id } = await test.version();
    await test.database.query(`UPDATE versions SET ${change} WHERE id = $1`, [id]);
  },
});

/** Its files have not been needed for eight days. */
export const deletion = versionsAre(
  `expires_at = now() - interval '8 days', retention_ended_at = now() - interval '8 days',
   retention_ended_by = 'operator'`,
);

/** A copy that was cut short before it had its name was damaged since, at that name. */
export const damagedInStore: Drive = {
  by: 'start',
  prepare: async (test) => {
    await test.service.arm({ crash_point: 'copy.named', passing: 1 });
    await test.learn();
    await test.service.died();
    const { rows } = await test.database.query<{ adapter_hash: string }>(
      'SELECT adapter_hash FROM kept_adapters ORDER BY created_at DESC LIMIT 1',
    );
    const name = rows[0]?.adapter_hash.replace(':', '-') ?? '';
    await writeFile(path.join(test.dataFolder, 'adapters', name, 'adapter_model.safetensors'), 'damaged');
  },
};

export const damaged: Drive = {
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

export const remnant: Drive = {
  by: 'start',
  prepare: async (test) => {
    await mkdir(path.join(test.dataFolder, 'adapters', '.keeping-something'));
    await test.ageRemnants();
  },
};

/** An operator erases a subject; what it was sent before is not asked for again. */
export const erasure: Drive = {
  by: 'command',
  args: async (test) => {
    const { subject_id } = await test.version();
    test.askNoMore();
    return ['subject', 'erase', subject_id, ...project];
  },
};

/** All that has ended so far did so long ago. */
export const longAgo: Drive = {
  by: 'start',
  prepare: async (test) => {
    await test.database.query(`UPDATE jobs SET updated_at = now() - interval '40 days' WHERE settled`);
  },
};

/** Seven months pass for all that has ended, but for versions: the next round archives it. */
export const monthsAgo: Drive = {
  by: 'start',
  prepare: async (test) => {
    await test.ask();
    await test.settled();
    test.askNoMore();
    await test.database.query(`
      BEGIN;
      SET LOCAL session_replication_role = replica;
      SET LOCAL timezone = 'UTC';
      UPDATE transfers SET created_at = transfers.created_at - interval '7 months' FROM jobs
        WHERE jobs.id = job_id AND settled AND status <> 'ready';
      UPDATE jobs SET updated_at = updated_at - interval '7 months' WHERE settled AND status <> 'ready';
      UPDATE subjects SET created_at = created_at - interval '7 months';
      DELETE FROM monthly_spending;
      INSERT INTO monthly_spending (project_id, month, spent_microusd, learning_microusd)
        SELECT project_id, month, sum(spent), sum(learning) FROM (
          SELECT accounts.project_id, date_trunc('month', transfers.created_at)::date AS month,
            CASE accounts.id WHEN to_account THEN amount_microusd ELSE -amount_microusd END AS spent,
            CASE WHEN transfers.kind = 'post' AND jobs.kind = 'internalization'
              THEN amount_microusd ELSE 0 END AS learning
          FROM accounts JOIN transfers ON accounts.id IN (from_account, to_account)
            LEFT JOIN jobs ON jobs.id = transfers.job_id
          WHERE accounts.kind = 'spent'
          UNION ALL
          SELECT project_id, month, received_microusd - sent_microusd, learning_microusd
          FROM accounts JOIN archived_sums ON account_id = accounts.id WHERE accounts.kind = 'spent'
        ) AS entries GROUP BY project_id, month;
      COMMIT`);
  },
};

/** Imports a subject of this installation under another name. */
export const subjectImport: Drive = {
  by: 'command',
  args: async (test) => {
    const { subject_id } = await test.version();
    const file = path.join(test.script_folder, `${subject_id}.engraft`);
    await test.service.command(['export', 'subject', subject_id, file, ...project]);
    return ['import', 'subject', file, '--as', `${subject_id}-again`, ...project];
  },
  // The next start looks for what was cut short.
  repair: ({ service }) => service.kill(),
};

/** A subject that was exported and erased, with a folder that its adapter has left. */
export async function leavingHere(test: CrashTest): Promise<{ readonly file: string; readonly folder: string }> {
  const { subject_id, folder } = await test.version();
  const file = path.join(test.script_folder, `${subject_id}.engraft`);
  await test.service.command(['export', 'subject', subject_id, file, ...project]);
  await test.service.command(['subject', 'erase', subject_id, ...project]);
  test.askNoMore();
  // The next round of retention.
  await test.service.kill();
  await test.service.start();
  await test.untilGone(folder);
  return { file, folder };
}

const running: Pick<Drive, 'prepare' | 'repair'> = {
  prepare: async (test) => {
    await test.setScript('slow', true);
    await test.ask();
    await test.until(`SELECT FROM jobs WHERE id = $1 AND status = 'running'`, [test.last_job_id]);
  },
  repair: (test) => test.setScript('slow', false),
};

export const orphanedJob: Drive = { ...running, by: 'start' };

export const cancelled: Drive = {
  ...running,
  by: 'command',
  args: (test) => Promise.resolve(['job', 'cancel', test.last_job_id]),
};

export const unknownCall: Drive = {
  by: 'command',
  prepare: async (test) => {
    setReply(test, dieInTheMiddle);
    await test.learn('Three stones lie elsewhere, and nobody says what asking about them has cost.');
    await test.until(`SELECT FROM jobs WHERE id = $1 AND status = 'reconciliation_required'`, [test.last_job_id]);
    setReply(test, answerWith('1. Which is stone 0?'));
  },
  args: (test) => Promise.resolve(['job', 'resolve', test.last_job_id, '--release']),
};

export const command = (...args: readonly string[]): Drive => ({ by: 'command', args: () => Promise.resolve(args) });
export const project = ['--project', 'default'] as const;
