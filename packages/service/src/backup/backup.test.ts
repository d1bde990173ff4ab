import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { isAdapterIntact } from '@engraft/engine';
import { sql, type Kysely } from 'kysely';
import { openFolderStore } from '../adapterStore/folderStore.js';
import { admitJob } from '../admission/admitJob.js';
import { archiveEndedJobs } from '../archive/archiveEndedJobs.js';
import { thisOperator } from '../audit/operator.js';
import type { Database } from '../db/schema.js';
import { eraseSubject } from '../erasure/eraseSubject.js';
import { authenticate } from '../keys/authenticate.js';
import { grantCredit } from '../ledger/grantCredit.js';
import { verifyLedger } from '../ledger/verifyLedger.js';
import { openInstallation } from '../startup/installation.js';
import { deleteUnneededFiles } from '../retention/deleteUnneededFiles.js';
import { withEmptyDatabase } from '../testing/emptyDatabase.js';
import { makeOldJob } from '../testing/oldJob.js';
import { schemaRules, tableContents } from '../testing/tableContents.js';
import { countUnits, plentyOfJobs } from '../testing/testApp.js';
import { openBackupSource, reading, type BackupSource } from '../testing/testBackup.js';
import { restoreBackup } from './restoreBackup.js';

describe('backup and restore', () => {
  let source: BackupSource;
  let db: Kysely<Database>;
  before(async () => {
    source = await openBackupSource();
    db = source.database.db;
  });
  after(() => source.close());

  /** Texts that PostgreSQL takes as JSON only, in a job that waits. */
  async function admitQuestion(idempotencyKey: string): Promise<string> {
    const outcome = await admitJob(
      { db, countTokens: countUnits, contextLength: 1_000, execution: 'on', open_jobs: plentyOfJobs },
      {
        key: source.key,
        tenant_id: null,
        subject_id: 'anna',
        adapter_version: undefined,
        endpoint: '/v1/inferences',
        idempotency_key: idempotencyKey,
        request: {
          kind: 'inference',
          messages: [{ role: 'user', content: 'A NUL \u0000, half a pair \ud800, a "quote", a \\ and\na line.' }],
          tools: [],
          tool_choice: 'auto',
          parallel_tool_calls: true,
          response_format: { type: 'text' },
          max_output_tokens: 12,
          temperature: 0,
        },
      },
    );
    if (outcome.kind !== 'admitted') throw new Error(JSON.stringify(outcome));
    return outcome.job_id;
  }

  it('forgets the name of a file of archived jobs that both installations might write', async () => {
    const begun = sql`insert into archives (month, file) values ('2026-01-01', '2026-01/begun.jsonl.gz')`;
    await begun.execute(db);
    const { file } = await source.backUp();
    await sql`delete from archives where moved_at is null`.execute(source.database.owner);
    await withEmptyDatabase(source.database, async (url) => {
      await restoreBackup({ file, dataFolder: source.newPath(), databaseUrl: url });
      const rows = await reading(url, (restored) => restored.selectFrom('archives').select('id').execute());
      assert.deepEqual(rows, []);
    });
  });

  it('brings back every row, rule, number and adapter in an empty folder, where keys go on working', async () => {
    const version = await source.learn(randomBytes(1_500_000));
    await source.learn('other weights', 'berta');
    await admitQuestion('waits');
    await makeOldJob(db, source.key, { endedMonthsAgo: 4, reserved_microusd: 100, charged_microusd: 60 });
    assert.equal(await archiveEndedJobs(db, { folder: source.newPath(), afterMonths: 3 }), 1);
    const { file, rows, adapters, missing_adapters } = await source.backUp();
    assert.deepEqual([adapters, missing_adapters], [2, []]);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const contents = await tableContents(db);
    assert.equal(rows, Object.values(contents).flat().length);

    const restored = source.newPath();
    const report = await restoreBackup({ file, dataFolder: restored, databaseUrl: null });
    assert.deepEqual([report.rows, report.adapters, report.migrations], [rows, 2, []]);
    assert.deepEqual(report.ledger, { ok: true, differences: [] });
    assert.deepEqual((await readdir(restored)).sort(), ['adapters', 'default-key', 'postgres']);
    assert.equal((await readFile(path.join(restored, 'default-key'), 'utf8')).trim(), source.key.secret);
    assert.equal((await stat(path.join(restored, 'default-key'))).mode & 0o777, 0o600);
    assert.ok(await isAdapterIntact((await openFolderStore(restored)).locate(version.adapter_hash)));

    const installation = await openInstallation({ dataFolder: restored, databaseUrl: null }, { maxConnections: 2 });
    try {
      assert.equal(installation.unrestrictedBecause, null);
      assert.deepEqual(await tableContents(installation.db), contents);
      const [here, there] = [await schemaRules(db), await schemaRules(installation.db)];
      assert.deepEqual(
        [here.filter((rule) => !there.includes(rule)), there.filter((rule) => !here.includes(rule))],
        [[], []],
      );
      assert.equal((await authenticate(installation.db, source.key.secret))?.id, source.key.id);
      const { id: last } = await db
        .selectFrom('transfers')
        .select('id')
        .orderBy('id', 'desc')
        .executeTakeFirstOrThrow();
      await grantCredit(installation.db, { project_id: source.key.project_id, amount_microusd: 1, memo: 'after' });
      const next = installation.db.selectFrom('transfers').select('id').orderBy('id', 'desc');
      assert.ok((await next.executeTakeFirstOrThrow()).id > last);
      assert.equal((await verifyLedger(installation.db)).ok, true);
      await assert.rejects(sql`update accounts set balance_microusd = 0`.execute(installation.db));
    } finally {
      await installation.close();
    }
  });

  it('can be looked into with tar', async (t) => {
    const { file } = await source.backUp();
    const run = promisify(execFile);
    const listed = await run('tar', ['-tzf', file]).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
      throw error;
    });
    if (listed === null) {
      t.skip('there is no tar here');
      return;
    }
    const entries = listed.stdout.trim().split('\n');
    assert.equal(listed.stderr, '');
    assert.deepEqual([entries[0], entries.at(-1)], ['engraft-backup.json', 'manifest.json']);
  });

  it('is of one moment, however much is written meanwhile', async () => {
    let writing = true;
    let written = 0;
    const write = async (): Promise<void> => {
      for (; writing; written += 1) await source.learn(`weights ${written}`, `subject ${written % 7}`);
    };
    const writer = write();
    try {
      for (let count = 0; count < 3; count += 1) {
        const beforeBackup = written;
        const { file, missing_adapters } = await source.backUp();
        assert.deepEqual(missing_adapters, []);
        await withEmptyDatabase(source.database, async (databaseUrl) => {
          const folder = source.newPath();
          const report = await restoreBackup({ file, dataFolder: folder, databaseUrl });
          assert.deepEqual([report.ledger.differences, report.missing_adapters], [[], []]);
          const versions = await reading(databaseUrl, (restored) =>
            restored.selectFrom('versions').select('adapter_hash').distinct().execute(),
          );
          assert.ok(versions.length >= beforeBackup);
          const adapters = (await readdir(path.join(folder, 'adapters'))).filter((name) => name.startsWith('sha256-'));
          assert.equal(adapters.length, versions.length);
        });
        assert.ok(written > beforeBackup, 'something was written meanwhile');
      }
    } finally {
      writing = false;
      await writer;
    }
  });

  it('keeps adapters from being deleted until they are in it', async () => {
    const { id, adapter_hash } = await source.learn('of a version that has expired', 'carla');
    const longAgo = sql<Date>`now() - interval '20 days'`;
    await db
      .updateTable('versions')
      .set({ created_at: longAgo, expires_at: longAgo, retention_ended_at: longAgo })
      .where('id', '=', id)
      .execute();
    const rounds: Promise<number>[] = [];
    const { file } = await source.backUp({
      onProgress: ({ phase }) => {
        if (phase === 'database' && rounds.length === 0) rounds.push(deleteUnneededFiles(db, source.store));
      },
    });
    assert.deepEqual(await Promise.all(rounds), [0]);
    assert.equal(await deleteUnneededFiles(db, source.store), 1);
    assert.equal(await source.store.has(adapter_hash), false);
    await withEmptyDatabase(source.database, async (databaseUrl) => {
      const folder = source.newPath();
      await restoreBackup({ file, dataFolder: folder, databaseUrl });
      assert.ok(await (await openFolderStore(folder)).has(adapter_hash));
    });
  });

  it('leaves out what was erased, though its files are still to be deleted, unless another version has the same', async () => {
    const { adapter_hash } = await source.learn('of a subject that is erased', 'gerda');
    const { adapter_hash: shared } = await source.learn('of two subjects', 'hanna');
    await source.learn('of two subjects', 'irma');
    for (const name of ['gerda', 'hanna']) {
      const subject = { project_id: source.key.project_id, tenant_id: null, name };
      assert.equal((await eraseSubject(db, thisOperator({}), subject)).kind, 'erased');
    }
    assert.ok(await source.store.has(adapter_hash));
    const { file, missing_adapters } = await source.backUp();
    assert.deepEqual(missing_adapters, []);
    await withEmptyDatabase(source.database, async (databaseUrl) => {
      const folder = source.newPath();
      const report = await restoreBackup({ file, dataFolder: folder, databaseUrl });
      assert.deepEqual([report.missing_adapters, report.ledger.differences], [[], []]);
      const restored = await openFolderStore(folder);
      assert.deepEqual([await restored.has(adapter_hash), await restored.has(shared)], [false, true]);
      const of = (hash: string) =>
        reading(databaseUrl, (rows) =>
          rows.selectFrom('versions').select('damaged_at').where('adapter_hash', '=', hash).execute(),
        );
      assert.deepEqual(await of(adapter_hash), [{ damaged_at: null }]);
    });
  });

  it('saves the rest where an adapter is damaged or missing, and notes it of its versions', async () => {
    const damaged = await source.learn('to be damaged', 'dora');
    const missing = await source.learn('to be lost', 'emil');
    const { folder } = source.store.locate(damaged.adapter_hash);
    await writeFile(path.join(folder, 'adapter_model.safetensors'), 'damaged');
    await rm(source.store.locate(missing.adapter_hash).folder, { recursive: true });
    const { file, missing_adapters } = await source.backUp();
    assert.deepEqual([...missing_adapters].sort(), [damaged.adapter_hash, missing.adapter_hash].sort());
    await withEmptyDatabase(source.database, async (databaseUrl) => {
      const report = await restoreBackup({ file, dataFolder: source.newPath(), databaseUrl });
      assert.deepEqual([...report.missing_adapters].sort(), [damaged.adapter_hash, missing.adapter_hash].sort());
      const marked = await reading(databaseUrl, (restored) =>
        restored.selectFrom('versions').select('id').where('damaged_at', 'is not', null).execute(),
      );
      assert.deepEqual(marked.map(({ id }) => id).sort(), [damaged.id, missing.id].sort());
    });
    for (const { adapter_hash, id } of [damaged, missing]) {
      await db
        .updateTable('versions')
        .set({ files_deleted_at: sql<Date>`now()` })
        .where('id', '=', id)
        .execute();
      await source.store.remove(adapter_hash);
    }
  });

  it('lets learning that was under way repeat what it had in its work folder only', async () => {
    const { job_id } = await source.learn('of a job that is done', 'frieda');
    const open = await admitQuestion('under way');
    const phase = { outcome: '{}', input_tokens: 1, output_tokens: 1, cached_input_tokens: 0, training_tokens: 1 };
    const phases = [open, job_id].flatMap((id) =>
      ['teaching', 'scoring', 'training', 'evaluating'].map((name) => ({ ...phase, job_id: id, phase: name })),
    );
    await db.insertInto('job_phases').values(phases).execute();
    const used = { input_tokens: 4, output_tokens: 4, cached_input_tokens: 0, training_tokens: 4 };
    await db
      .updateTable('jobs')
      .set({ training_progress: '{}', ...used })
      .where('id', '=', open)
      .execute();
    const { file } = await source.backUp();
    await withEmptyDatabase(source.database, async (databaseUrl) => {
      await restoreBackup({ file, dataFolder: source.newPath(), databaseUrl });
      await reading(databaseUrl, async (restored) => {
        const left = await restored.selectFrom('job_phases').select(['job_id', 'phase']).execute();
        const of = (id: string) => left.filter((each) => each.job_id === id).map((each) => each.phase);
        assert.deepEqual([of(open).sort(), of(job_id).length], [['scoring', 'teaching'], 4]);
        const tokens = ['input_tokens', 'output_tokens', 'cached_input_tokens', 'training_tokens'] as const;
        const job = restored
          .selectFrom('jobs')
          .select(['training_progress', ...tokens])
          .where('id', '=', open);
        const shown = { input_tokens: 2, output_tokens: 2, cached_input_tokens: 0, training_tokens: 2 };
        assert.deepEqual(await job.executeTakeFirstOrThrow(), { training_progress: null, ...shown });
      });
    });
  });
});
