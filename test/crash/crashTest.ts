import { access, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { attachEmbeddedPostgres } from '@engraft/service';
import { findAftermath, findDoubleCharges } from '@engraft/service/testing/aftermath.js';
import { answerWith, type FaultyTeacher, startFaultyTeacher } from '@engraft/service/testing/faultyTeacher.js';
import type { StubBucket } from '@engraft/service/testing/stubBucket.js';
import pg from 'pg';
import { KillableService } from './killableService.js';

type Request =
  | { readonly kind: 'question'; readonly subject_id: string; readonly adapter_version?: string }
  | { readonly kind: 'passage'; readonly subject_id: string; readonly content: string };

/** A version, and whose it is. */
export interface VersionOf {
  readonly id: string;
  readonly subject_id: string;
}

/** A client's request, which it repeats with the same key until it has a receipt. */
interface Sent {
  readonly key: string;
  readonly request: Request;
  job_id: string | null;
}

/** Everything that is not as it must be, in sentences. */
export interface Faults {
  /** A receipt without its job. */
  readonly lost_jobs: readonly string[];
  /** A job that nobody has a receipt of, or that was charged twice or too much. */
  readonly double_charges: readonly string[];
  /** Half an admission, a file that nobody would remove, a version without its file, a job without an end. */
  readonly left_behind: readonly string[];
}

export const noFaults: Faults = { lost_jobs: [], double_charges: [], left_behind: [] };

/** Far longer than anything takes: it proves that there is an end. */
const patienceMs = 120_000;
/** Far longer than a round of retention takes here. */
const retentionRoundMs = 20_000;
const longAgo = new Date(Date.now() - 2 * 24 * 3_600_000);

/** A service to be killed, its data, and what its clients were told. */
export class CrashTest {
  readonly #sent: Sent[] = [];
  /** This many of them have been asked for again since the last crash. */
  #lookedAt = 0;

  private constructor(
    readonly dataFolder: string,
    readonly script_folder: string,
    readonly databaseUrl: string,
    readonly database: pg.Pool,
    readonly teacher: FaultyTeacher,
    readonly service: KillableService,
    readonly bucket: StubBucket | undefined,
    readonly release: () => Promise<void>,
  ) {}

  /**
   * @param reach makes of the database's URL the one that the service is given; by default it finds its own.
   * @param bucket where adapters live, in place of the data folder.
   */
  static async open(reach?: (databaseUrl: string) => string, bucket?: StubBucket): Promise<CrashTest> {
    const folder = await mkdtemp(path.join(tmpdir(), 'engraft-points-'));
    const [dataFolder, scriptFolder] = [path.join(folder, 'data'), path.join(folder, 'script')];
    await mkdir(scriptFolder);
    const server = await attachEmbeddedPostgres(dataFolder);
    const database = new pg.Pool({ connectionString: server.url, max: 2 });
    // A pool has ended before its connections are closed. The server, which stops next, may close them first.
    database.on('error', () => undefined);
    const teacher = await startFaultyTeacher(answerWith('1. Which is stone 0?'));
    const { PATH = '', HOME = '' } = process.env;
    const service = new KillableService({
      PATH,
      HOME,
      ENGRAFT_DATA_DIR: dataFolder,
      ...(reach === undefined ? {} : { DATABASE_URL: reach(server.url) }),
      ENGRAFT_TEST_SCRIPT_DIR: scriptFolder,
      ENGRAFT_TEACHER_URL: teacher.url,
      ENGRAFT_TEACHER_MODEL: 'elsewhere',
      ...bucket?.environment,
      ENGRAFT_JOB_RETENTION_DAYS: '30',
      ENGRAFT_ARCHIVE_AFTER_MONTHS: '3',
      ENGRAFT_LOG_LEVEL: process.env['ENGRAFT_TEST_LOG_LEVEL'] ?? 'fatal',
    });
    const release = async (): Promise<void> => {
      await service.close();
      await teacher.stop();
      await database.end();
      await server.release();
      await rm(folder, { recursive: true });
    };
    return new CrashTest(dataFolder, scriptFolder, server.url, database, teacher, service, bucket, release);
  }

  /** Sent once; whether a receipt comes is another matter. */
  async send(request: Request): Promise<void> {
    const sent: Sent = { key: `request-${this.#sent.length}`, request, job_id: null };
    this.#sent.push(sent);
    await this.#post(sent).catch(() => undefined);
  }

  ask(of?: VersionOf): Promise<void> {
    const pinned = of === undefined ? { subject_id: 'anna' } : { subject_id: of.subject_id, adapter_version: of.id };
    return this.send({ kind: 'question', ...pinned });
  }

  learn(content = 'Three stones lie on the table of the reading room.'): Promise<void> {
    return this.send({ kind: 'passage', subject_id: `subject-${this.#sent.length}`, content });
  }

  async #post(sent: Sent): Promise<void> {
    const { client } = this.service;
    const { key, request } = sent;
    const options = { idempotencyKey: key };
    const receipt =
      request.kind === 'passage'
        ? await client.internalizations.create(
            { subject_id: request.subject_id, content: request.content, max_cost_microusd: 5_000_000 },
            options,
          )
        : await client.inferences.create(
            {
              subject_id: request.subject_id,
              messages: [{ role: 'user', content: 'Which is stone 1?' }],
              max_output_tokens: 20,
              ...(request.adapter_version === undefined ? {} : { adapter_version: request.adapter_version }),
            },
            options,
          );
    if (sent.job_id !== null && receipt.id !== sent.job_id) throw new Error(`${key} was admitted twice`);
    sent.job_id = receipt.id;
  }

  /** A version of a passage that was learned for it. */
  async version(): Promise<VersionOf & { readonly folder: string }> {
    await this.learn();
    await this.settled();
    const { rows } = await this.database.query<{ id: string; adapter_hash: string }>(
      'SELECT id, adapter_hash FROM versions WHERE source_job_id = $1',
      [this.#sent.at(-1)?.job_id],
    );
    const [row] = rows;
    if (row === undefined) throw new Error('a passage was not learned');
    const folder = path.join(this.dataFolder, 'adapters', row.adapter_hash.replace(':', '-'));
    return { id: row.id, subject_id: this.#sent.at(-1)?.request.subject_id ?? '', folder };
  }

  /** Forgets the requests sent so far, with their keys. */
  askNoMore(): void {
    this.#lookedAt = this.#sent.length;
  }

  get last_job_id(): string {
    return this.#sent.at(-1)?.job_id ?? '';
  }

  async setScript(name: 'slow' | 'disk-full', on: boolean): Promise<void> {
    const file = path.join(this.script_folder, name);
    for (const call of ['generate', 'step'] as const) await rm(this.#waiting(call), { force: true });
    await (on ? writeFile(file, '') : rm(file, { force: true }));
  }

  /** The slow model has come to this call. */
  waits(call: 'generate' | 'step'): Promise<void> {
    return untilTrue(`a ${call} waits`, () =>
      access(this.#waiting(call)).then(
        () => true,
        () => false,
      ),
    );
  }

  #waiting(call: 'generate' | 'step'): string {
    return path.join(this.script_folder, `waiting-${call}`);
  }

  /** A row is there. */
  until(condition: string, values: readonly unknown[] = []): Promise<void> {
    return untilTrue(condition, async () => (await this.database.query(condition, [...values])).rows.length > 0);
  }

  untilGone(folder: string): Promise<void> {
    return untilTrue(`${folder} is gone`, () =>
      access(folder).then(
        () => false,
        () => true,
      ),
    );
  }

  /** Clients repeat what they have sent, with the same keys. */
  async resend(): Promise<void> {
    for (const sent of this.#sent.slice(this.#lookedAt)) await this.#post(sent);
    this.#lookedAt = this.#sent.length;
  }

  /** No job waits or runs. */
  ended(): Promise<void> {
    return this.until(`SELECT WHERE NOT EXISTS (SELECT FROM jobs WHERE status IN ('queued', 'running'))`);
  }

  /** Neither is a worker busy with the files of one. */
  async settled(): Promise<void> {
    await this.ended();
    await untilTrue('no work of jobs that have ended is left', async () => {
      return (await readdir(path.join(this.dataFolder, 'work')).catch(() => [])).length === 0;
    });
  }

  /** A day passes, for what is removed when nothing has touched it for so long. */
  async ageRemnants(): Promise<void> {
    const isRemnant = { adapters: /^\./, services: /\.new$/ };
    for (const [name, pattern] of Object.entries(isRemnant)) {
      const folder = path.join(this.dataFolder, name);
      const remnants = (await readdir(folder).catch(() => [])).filter((file) => pattern.test(file));
      for (const file of remnants) await utimes(path.join(folder, file), longAgo, longAgo);
    }
  }

  /** After a restart: every new request gets the receipt that it had, or its first one, and every job ends. */
  async catchUp(): Promise<void> {
    await this.resend();
    await this.settled();
  }

  async countJobs(): Promise<number> {
    const { rows } = await this.database.query<{ jobs: number }>('SELECT count(*)::int AS jobs FROM jobs');
    return rows[0]?.jobs ?? 0;
  }

  /** Once it has caught up: whether every receipt has its job, and nothing is left behind. */
  async findFaults(): Promise<Faults> {
    const jobs = await this.#jobs();
    const twice = jobs.filter((id, index) => id === jobs[index + 1]).map((id) => `job ${id} is in two places`);
    const receipts = this.#sent.map(({ job_id }) => job_id ?? '').sort();
    const lostJobs = receipts.filter((id) => !jobs.includes(id)).map((id) => `the job of receipt ${id} is lost`);
    const unasked = jobs.filter((id) => !receipts.includes(id)).map((id) => `job ${id} was admitted without a receipt`);
    const doubleCharges = [...twice, ...unasked, ...(await findDoubleCharges(this.databaseUrl))];
    return { lost_jobs: lostJobs, double_charges: doubleCharges, left_behind: await this.#findAftermath() };
  }

  /** The ids of all jobs, in the tables and in archives; sorted. Imported ones were not asked for. */
  async #jobs(): Promise<string[]> {
    // In one statement, since a round of retention may be archiving.
    const { rows } = await this.database.query<{ ids: string[]; files: string[] }>(
      `SELECT
         ARRAY(SELECT id FROM jobs WHERE NOT EXISTS
           (SELECT FROM api_keys WHERE id = jobs.api_key_id AND name = 'engraft import')) AS ids,
         ARRAY(SELECT file FROM archives WHERE moved_at IS NOT NULL) AS files`,
    );
    const { ids = [], files = [] } = rows[0] ?? {};
    for (const file of files) {
      const content = gunzipSync(await readFile(path.join(this.dataFolder, 'archive', file)));
      const lines = content.toString().trim().split('\n');
      ids.push(...lines.map((line) => (JSON.parse(line) as { id: string }).id));
    }
    return ids.sort();
  }

  /** The things that are still there when retention has had time for its first round, which no start waits for. */
  async #findAftermath(): Promise<string[]> {
    const deadlineMs = performance.now() + retentionRoundMs;
    for (;;) {
      const found = await findAftermath(this.databaseUrl, this.dataFolder, this.bucket?.objects);
      if (found.length === 0 || performance.now() > deadlineMs) return found;
      await sleep(100);
    }
  }
}

async function untilTrue(what: string, look: () => Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + patienceMs;
  while (!(await look())) {
    if (performance.now() > deadlineMs) throw new Error(`it did not come to this: ${what}`);
    await sleep(20);
  }
}
