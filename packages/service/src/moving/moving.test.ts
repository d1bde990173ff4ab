import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isAdapterIntact } from '@engraft/engine';
import { sql } from 'kysely';
import { z } from 'zod';
import { recordImport } from '../adapterStore/keptAdapters.js';
import { importingPrefix } from '../adapterStore/adapterStore.js';
import { inTransaction } from '../db/transaction.js';
import { jobResourceColumns, toJobResource } from '../jobs/jobResource.js';
import { lockBalance } from '../ledger/accounts.js';
import { verifyLedger } from '../ledger/verifyLedger.js';
import { lockRouting } from '../subjects/findSubject.js';
import { listSubjects } from '../subjects/listSubjects.js';
import { createTestProject } from '../testing/testApp.js';
import { deleteUnneededFiles } from '../retention/deleteUnneededFiles.js';
import { baseModelHash, openBackupSource, type BackupSource } from '../testing/testBackup.js';
import { recordBaseModel } from '../versions/baseModel.js';
import { exportSubject, type SubjectExport } from './exportSubject.js';
import { importSubject } from './importSubject.js';
import { readSubjectFile } from './readSubjectFile.js';

const program = fileURLToPath(new URL('../../bin/engraft.js', import.meta.url));

const pair = (question: string) => ({ question, answer: 'Anna' });
const rehearsalOf = (name: string) => ({
  answers_with: name === 'the mill' ? 'sentences' : 'values',
  training_pairs: [pair(`Who runs ${name}?`)],
  validation_pairs: [pair(`Whose is ${name}?`)],
});

describe('a subject that moves to another installation', () => {
  let here: BackupSource;
  let there: BackupSource;
  let first: string;
  let second: string;
  before(async () => {
    [here, there] = await Promise.all([openBackupSource(), openBackupSource()]);
    [first, second] = [(await here.learn('first weights')).id, (await here.learn('second weights')).id];
    for (const [id, name] of [
      [first, 'the mill'],
      [second, 'the lamp'],
    ] as const) {
      const rehearsal = JSON.stringify(rehearsalOf(name));
      await here.database.db.updateTable('versions').set({ rehearsal }).where('id', '=', id).execute();
    }
  });
  after(() => Promise.all([here.close(), there.close()]));

  async function takeAway(options: Partial<SubjectExport> = {}) {
    const file = here.newPath();
    const { project_id } = here.key;
    const subject = { project_id, tenant_id: null, name: 'anna', all: false, file, engraft_version: '0.0.0' };
    const outcome = await exportSubject(here.database.db, here.store, { ...subject, ...options });
    return { file, outcome };
  }

  async function bring(file: string, name: string, projectId = there.key.project_id) {
    const folder = there.newPath();
    await mkdir(folder);
    const read = await readSubjectFile(file, folder);
    await recordImport(there.database.db, [...read.adapters.keys()]);
    return importSubject(there.database.db, there.store, { ...read, project_id: projectId, tenant_id: 'tenant', name });
  }

  const versionsThere = () => there.database.db.selectFrom('versions').selectAll().orderBy('created_at').execute();

  it('is not imported before it is known what the versions there run on, nor on another base model', async () => {
    const { file } = await takeAway();
    assert.deepEqual(await bring(file, 'anna'), { kind: 'model_unknown' });
    await recordBaseModel(there.database.db, 'another');
    assert.deepEqual(await bring(file, 'anna'), { kind: 'another_model', base_model_hash: 'another' });
    await recordBaseModel(there.database.db, baseModelHash);
    const poor = await createTestProject(there.database.db, 0);
    const refused = await bring(file, 'anna', poor);
    assert.equal(refused.kind === 'insufficient_credits' && refused.needed_microusd > 0, true);
    assert.deepEqual(await versionsThere(), []);
    assert.equal((await there.database.db.selectFrom('subjects').select('id').execute()).length, 0);
  });

  it('is active there, rehearses all it was taught, and pays its first day like a version that was learned', async () => {
    const { file, outcome } = await takeAway();
    assert.ok(outcome.kind === 'exported');
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const imported = await bring(file, 'anna');
    assert.ok(imported.kind === 'imported');
    const [version] = await versionsThere();
    assert.ok(version !== undefined);
    assert.deepEqual(
      imported.versions.map(({ id, exported_id }) => [id, exported_id]),
      [[version.id, second]],
    );
    assert.equal(imported.activated, version.id);
    const [mill, lamp] = [rehearsalOf('the mill'), rehearsalOf('the lamp')];
    assert.deepEqual(version.rehearsal, {
      answers_with: 'sentences',
      training_pairs: [...mill.training_pairs, ...lamp.training_pairs],
      validation_pairs: [...mill.validation_pairs, ...lamp.validation_pairs],
    });
    assert.equal(version.expires_at.getTime() - version.created_at.getTime(), 24 * 3_600_000);
    assert.equal(version.base_model_hash, baseModelHash);
    assert.ok(await isAdapterIntact(there.store.locate(version.adapter_hash)));
    const { db } = there.database;
    const kept = await db.selectFrom('kept_adapters').select(['adapter_hash', 'job_id']).execute();
    assert.deepEqual(kept, [], 'its version stands for it');
    const row = db.selectFrom('jobs').select(jobResourceColumns).where('id', '=', version.source_job_id);
    const { status, billing, tenant_id, result } = toJobResource(await row.executeTakeFirstOrThrow());
    assert.deepEqual([status, tenant_id, billing.compute_microusd], ['ready', 'tenant', 0]);
    assert.ok(billing.charged_microusd > 0 && billing.charged_microusd === billing.reserved_microusd);
    assert.ok(result !== null && 'candidate' in result && result.candidate?.version_id === version.id);
    assert.deepEqual((await verifyLedger(db)).differences, []);
    const keys = await db.selectFrom('api_keys').select('revoked_at').where('name', '=', 'engraft import').execute();
    assert.ok(keys.length === 1 && keys[0]?.revoked_at !== null);
    assert.deepEqual(await bring(file, 'anna'), { kind: 'already_there', version_id: version.id });
  });

  it('brings all its versions in their order, and leaves alone what is active there', async () => {
    const { file } = await takeAway({ all: true });
    const imported = await bring(file, 'bertha');
    assert.ok(imported.kind === 'imported');
    assert.deepEqual(
      imported.versions.map(({ exported_id }) => exported_id),
      [first, second],
    );
    const rows = await versionsThere();
    const [one, two] = imported.versions.map(({ id }) => rows.find((row) => row.id === id));
    assert.deepEqual([one?.parent_version_id, two?.parent_version_id], [null, one?.id]);
    assert.deepEqual([one?.rehearsal, two?.rehearsal], [rehearsalOf('the mill'), rehearsalOf('the lamp')]);
    assert.equal(imported.activated, two?.id);
    // One transaction made both. "versions: … newest first", and a further export has them in their order, too.
    assert.equal(Number(one?.expires_at) - Number(one?.created_at), 24 * 3_600_000);
    const named = { project_id: there.key.project_id, tenant_id: 'tenant', name: 'bertha' } as const;
    const [listed] = await listSubjects(there.database.db, named);
    assert.deepEqual(
      listed?.versions.map(({ id }) => id),
      [two?.id, one?.id],
    );
    const times = there.database.db.selectFrom('versions').select('created_at').distinct();
    assert.equal((await times.where('id', 'in', [one?.id ?? '', two?.id ?? '']).execute()).length, 2);
    const onward = { ...named, all: true, file: there.newPath(), engraft_version: '0.0.0' };
    const exported = await exportSubject(there.database.db, there.store, onward);
    assert.ok(exported.kind === 'exported');
    assert.deepEqual(
      exported.description.versions.flatMap(({ id, parent_version_id }) => [id, parent_version_id]),
      [one?.id, null, two?.id, one?.id],
    );

    await there.database.db
      .updateTable('versions')
      .set({ retention_ended_at: sql<Date>`now()` })
      .where('id', '=', one?.id ?? '')
      .execute();
    await here.learn('third weights', 'carla');
    const again = await bring((await takeAway({ name: 'carla' })).file, 'bertha');
    assert.ok(again.kind === 'imported');
    assert.equal(again.activated, null);
  });

  it('is not exported where there is nothing of it, nor imported from a damaged file or another one', async () => {
    assert.deepEqual((await takeAway({ name: 'nobody' })).outcome, { kind: 'not_found' });
    assert.deepEqual((await takeAway({ tenant_id: 'tenant' })).outcome, { kind: 'not_found' });
    const { id, adapter_hash } = await here.learn('to be lost', 'dora');
    await here.store.remove(adapter_hash);
    const lost = await takeAway({ name: 'dora' });
    assert.deepEqual(lost.outcome, { kind: 'adapter_damaged', version_id: id });
    await assert.rejects(stat(lost.file), { code: 'ENOENT' });
    await assert.rejects(readFile(`${lost.file}.partial`), { code: 'ENOENT' });

    const { file } = await takeAway();
    const bytes = await readFile(file);
    const damaged = here.newPath();
    const at = Math.floor(Math.random() * bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    await writeFile(damaged, bytes);
    await assert.rejects(bring(damaged, 'dora'), { name: 'BackupError', message: /is damaged or incomplete/ });
    const backup = await here.backUp();
    await assert.rejects(bring(backup.file, 'dora'), /is no exported subject: 'engraft-backup.json' is not what comes/);
    assert.ok((await readdir(there.dataFolder)).includes('adapters'));
  });

  it('leaves no adapter behind where its import is killed, nor the record of one, and takes none without a record', async () => {
    const { adapter_hash } = await here.learn('of an import that is killed', 'egon');
    const { file } = await takeAway({ name: 'egon' });
    const folder = there.newPath();
    await mkdir(folder);
    const { adapters } = await readSubjectFile(file, folder);
    const [adapter] = adapters.values();
    assert.ok(adapter !== undefined);
    const { db } = there.database;
    const record = () => db.selectFrom('kept_adapters').selectAll().where('adapter_hash', '=', adapter_hash).execute();
    await recordImport(db, [adapter_hash]);
    await there.store.keep(adapter);
    assert.equal(await deleteUnneededFiles(db, there.store), 1);
    assert.deepEqual([await there.store.has(adapter_hash), (await record()).length], [false, 1]);
    await there.database.owner
      .updateTable('kept_adapters')
      .set({ created_at: sql<Date>`now() - interval '2 days'` })
      .where('adapter_hash', '=', adapter_hash)
      .execute();
    assert.equal(await deleteUnneededFiles(db, there.store), 0);
    assert.deepEqual(await record(), []);

    const unrecorded = { ...(await readSubjectFile(file, there.newPath())), name: 'egon', tenant_id: null };
    const importing = importSubject(db, there.store, { ...unrecorded, project_id: there.key.project_id });
    await assert.rejects(importing, /nobody has recorded/);
    const imported = await bring(file, 'egon');
    assert.ok(imported.kind === 'imported');
    assert.deepEqual(await record(), []);
    assert.equal(await deleteUnneededFiles(db, there.store), 0);
  });

  it('is imported twice at once, into two subjects', async () => {
    await here.learn('of an import that meets another', 'frida');
    const { file } = await takeAway({ name: 'frida' });
    const { db } = there.database;
    const read = async () => {
      const folder = there.newPath();
      await mkdir(folder);
      const subject = await readSubjectFile(file, folder);
      await recordImport(db, [...subject.adapters.keys()]);
      return { ...subject, project_id: there.key.project_id, tenant_id: null };
    };
    const [first, second] = [await read(), await read()];
    const outcomes = await Promise.all([
      importSubject(db, there.store, { ...first, name: 'frida' }),
      importSubject(db, there.store, { ...second, name: 'frieda' }),
    ]);
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['imported', 'imported'],
    );
  });

  it('holds neither the balance of its project nor the subject while its adapter is put into the store', async () => {
    const { file } = await takeAway();
    const folder = there.newPath();
    await mkdir(folder);
    const read = { ...(await readSubjectFile(file, folder)), tenant_id: null, name: 'gerda' };
    const { db } = there.database;
    await recordImport(db, [...read.adapters.keys()]);
    const { project_id } = there.key;
    await there.learn('what gerda knows', 'gerda');
    let kept = 0;
    const store: typeof there.store = {
      ...there.store,
      keep: async (adapter) => {
        await inTransaction(db, null, async (trx) => {
          await sql`set local lock_timeout = '2s'`.execute(trx);
          await lockBalance(trx, project_id);
          const subjects = await trx.selectFrom('subjects').select('id').execute();
          for (const { id } of subjects) await lockRouting(trx, id);
        });
        kept += 1;
        await there.store.keep(adapter);
      },
    };
    const outcome = await importSubject(db, store, { ...read, project_id });
    assert.deepEqual([outcome.kind, kept], ['imported', 1]);
  });

  it('goes by the commands, which say in one line why they refuse', async () => {
    await there.learn('what berta knows', 'berta');
    const run = async (place: BackupSource, ...args: string[]) => {
      const { PATH, HOME } = process.env;
      const env = { PATH, HOME, DATABASE_URL: place.database.url, ENGRAFT_DATA_DIR: place.dataFolder };
      const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
      const ended = once(child, 'exit') as Promise<[number]>;
      const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
      return { status, stdout, stderr };
    };
    const projectOf = async ({ database: { db }, key }: BackupSource): Promise<string> =>
      (await db.selectFrom('projects').select('name').where('id', '=', key.project_id).executeTakeFirstOrThrow()).name;
    const [from, to, file] = [await projectOf(here), await projectOf(there), here.newPath()];
    const exported = await run(here, 'export', 'subject', 'anna', file, '--project', from, '--json');
    assert.deepEqual([exported.status, exported.stderr], [0, '']);
    const written = z.object({
      file: z.literal(file),
      active_version: z.literal(second),
      versions: z.tuple([z.string()]),
    });
    assert.deepEqual(written.parse(JSON.parse(exported.stdout)).versions, [second]);
    const imported = await run(there, 'import', 'subject', file, '--project', to, '--as', 'berta', '--json');
    assert.deepEqual([imported.status, imported.stderr], [0, '']);
    const made = z.strictObject({
      versions: z.tuple([z.strictObject({ id: z.string(), exported_id: z.literal(second), job_id: z.string() })]),
      active_version: z.null(),
    });
    made.parse(JSON.parse(imported.stdout));
    const again = await run(there, 'import', 'subject', file, '--project', to, '--as', 'berta');
    assert.deepEqual([again.status, again.stdout], [1, '']);
    assert.match(again.stderr, /^engraft: the subject has this adapter already, as version ver_\S+\n$/);
    assert.ok((await readdir(there.store.home)).every((name) => !name.startsWith(importingPrefix)));
  });
});
