import { lstat } from 'node:fs/promises';
import type { Kysely } from 'kysely';
import { assertBucketOf } from '../adapterStore/findAdapterStore.js';
import { examineArchives } from '../archive/examineArchives.js';
import { listArchives } from '../archive/listArchives.js';
import { withoutSecrets } from '../withoutSecrets.js';
import { minJumpMs } from '../clock/measureJump.js';
import { readClock } from '../clock/observeClock.js';
import { type Config, usableTracing } from '../config/config.js';
import { isDatabaseReachable } from '../db/isDatabaseReachable.js';
import type { Database } from '../db/schema.js';
import { isAbsence } from '../isAbsence.js';
import { makeDataFolder } from '../startup/dataFolder.js';
import type { Installation } from '../startup/installation.js';
import type { LoadedEngine } from '../startup/model.js';
import { openTeacherServer } from '../teacherServer/teacherServer.js';
import { countVersionsByModel, type VersionsByModel } from '../versions/baseModel.js';

export interface Finding {
  readonly name: string;
  readonly ok: boolean;
  /** The finding, or the fault. */
  readonly detail: string;
}

/** An installation, with ways to its parts: opened for the occasion, or those of a process that examines itself. */
export interface Examined {
  readonly config: Config;
  /** Workers have the folder of archives. */
  readonly hasArchives: boolean;
  /** Resolves to `null` if there is no database yet. */
  readonly withDatabase: <Found>(examine: (database: ExaminedDatabase) => Promise<Found>) => Promise<Found | null>;
  /** Rejects if the model cannot be read. */
  readonly contextLength: () => Promise<number>;
  /** Resolves to `null` if this process needs no engine. Rejects if none can be loaded. */
  readonly withEngine: <Found>(examine: (loaded: LoadedEngine) => Promise<Found>) => Promise<Found | null>;
}

export type ExaminedDatabase = Pick<Installation, 'db' | 'unrestrictedBecause'>;

/**
 * Each returns what it found, or `null` if there is nothing to look at, or throws an error that says what is wrong.
 */
type Examination = (examined: Examined) => Promise<string | null> | string;

const always: Readonly<Record<string, Examination>> = {
  node: examineNode,
  'data folder': examineDataFolder,
  database: examineDatabase,
  clock: examineClock,
  archives: examineArchivesOf,
  model: examineModel,
  engine: examineEngine,
};

/** The findings of `engraft doctor`, in an order in which one may explain the next. */
export async function examine(examined: Examined): Promise<Finding[]> {
  const { adapterBucket, teacher, tracing, trainerUrls } = examined.config;
  const wanted: Readonly<Record<string, Examination>> = {
    ...always,
    ...(adapterBucket === null ? {} : { adapters: examineBucket }),
    ...(trainerUrls === null ? {} : { trainers: examineTrainers }),
    ...(teacher === null ? {} : { teacher: examineTeacher }),
    ...(tracing === null ? {} : { traces: examineTracing }),
  };
  const findings: Finding[] = [];
  for (const [name, examination] of Object.entries(wanted)) {
    const finding = await find(name, () => examination(examined));
    if (finding !== null) findings.push(finding);
  }
  return findings;
}

async function find(name: string, examine: () => Promise<string | null> | string): Promise<Finding | null> {
  try {
    const detail = await examine();
    return detail === null ? null : { name, ok: true, detail };
  } catch (error) {
    return { name, ok: false, detail: withoutSecrets(error instanceof Error ? error.message : String(error)) };
  }
}

function examineNode(): string {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    throw new Error(`Node.js ${process.versions.node} is too old: 20.19 or later is needed`);
  }
  return `Node.js ${process.versions.node}`;
}

/** Makes nothing, since the folder may have been mistyped. */
async function examineDataFolder({ config: { dataFolder } }: Examined): Promise<string> {
  if (!(await exists(dataFolder))) return `${dataFolder} is not there yet: \`engraft serve\` makes it`;
  await makeDataFolder(dataFolder);
  return dataFolder;
}

async function examineDatabase({ config, withDatabase }: Examined): Promise<string> {
  const found = await withDatabase(async ({ db, unrestrictedBecause }) => {
    if (!(await isDatabaseReachable(db))) throw new Error('the database does not answer: its log says why');
    const rights =
      unrestrictedBecause === null ? '' : `, with the rights of the owner of its tables: ${unrestrictedBecause}`;
    return (config.databaseUrl === null ? 'embedded PostgreSQL' : 'PostgreSQL of DATABASE_URL') + rights;
  });
  return found ?? `none in ${config.dataFolder} yet: \`engraft serve\` makes one`;
}

async function exists(folder: string): Promise<boolean> {
  return lstat(folder).then(
    () => true,
    (error: unknown) => !isAbsence(error),
  );
}

/**
 * The database's clock decides. It is compared with this machine's, and with the time at which the service last saw it.
 */
async function examineClock({ withDatabase }: Examined): Promise<string> {
  return (await withDatabase(({ db }) => compareClocks(db))) ?? 'no database yet';
}

async function compareClocks(db: Kysely<Database>): Promise<string> {
  const { now_ms, seen_ms, leapt_ms } = await readClock(db);
  const seconds = (durationMs: number): string => `${Math.round(Math.abs(durationMs) / 1000)} seconds`;
  const aheadMs = now_ms - Date.now();
  if (Math.abs(aheadMs) > minJumpMs) {
    const direction = aheadMs > 0 ? 'ahead of' : 'behind';
    throw new Error(`the database's clock is ${seconds(aheadMs)} ${direction} this machine's: set the wrong one right`);
  }
  const time = (atMs: number): string => new Date(atMs).toISOString();
  if (seen_ms - now_ms > minJumpMs) {
    throw new Error(
      `it is ${time(now_ms)}, ${seconds(seen_ms - now_ms)} before the last look at it: the clock was set back, or was ahead then`,
    );
  }
  const leap = leapt_ms === null ? '' : `; it came back from more than a day away at ${time(leapt_ms)}`;
  return `it is ${time(now_ms)}; the last look at it was ${seconds(now_ms - seen_ms)} ago${leap}`;
}

async function examineArchivesOf({ config, hasArchives, withDatabase }: Examined): Promise<string | null> {
  if (!hasArchives) return null;
  // The database has a check of its own, which reports its faults.
  const archives = await withDatabase(({ db }) => listArchives(db)).catch(() => null);
  return examineArchives(archives ?? [], config.archive);
}

async function examineModel({ config, contextLength }: Examined): Promise<string> {
  if (config.engine === 'off') return 'not needed: ENGRAFT_ENGINE is off';
  return `${config.modelFolder}, ${await contextLength()} tokens of context`;
}

async function examineEngine({ config, withDatabase, withEngine }: Examined): Promise<string> {
  if (config.engine === 'off') return 'off';
  const found = await withEngine(async ({ engine, teachingAdapter }) => {
    if (engine.trouble !== null) throw new Error(engine.trouble);
    const prompt = { messages: [{ role: 'user', content: 'Hello.' }] } as const;
    for (const adapter of teachingAdapter === null ? [null] : [null, teachingAdapter]) {
      await engine.generate({ prompt, adapter, maxOutputTokens: 1, temperature: 0 });
    }
    const { architecture, parameters, contentHash } = await engine.describe();
    const teaching = teachingAdapter === null ? '' : `, taught with the adapter in ${teachingAdapter.folder}`;
    // The database has a check of its own, which reports its faults.
    const versions = await withDatabase(({ db }) => countVersionsByModel(db, contentHash)).catch(() => null);
    const trained = versions === null ? '' : `; ${describeVersions(versions)}`;
    return `${config.engine}, ${architecture}, ${parameters} parameters${teaching}${trained}`;
  });
  return found ?? 'none in this process: workers have one';
}

async function examineTrainers({ config: { engine, modelFolder, trainerUrls } }: Examined): Promise<string> {
  if (engine === 'off' || trainerUrls === null) return 'not needed';
  const { openPeftTrainers } = await import('@engraft/trainer-peft');
  const trainers = await openPeftTrainers({ modelDir: modelFolder, urls: trainerUrls });
  try {
    const away = (await trainers.look()).filter(({ found }) => found.kind !== 'fits');
    const told = away.map(({ url, found }) => `${url}: ${'reason' in found ? found.reason : ''}`);
    if (told.length > 0) throw new Error(told.join('; '));
  } finally {
    await trainers.close();
  }
  return `${trainerUrls.join(', ')}, with the model's checkpoint`;
}

/** This is no fault: whoever tries another model may come back. */
function describeVersions({ retained, of_another_model }: VersionsByModel): string {
  const versions = `${retained} retained version${retained === 1 ? '' : 's'}`;
  if (of_another_model === 0) return versions;
  return `${versions}, of which ${of_another_model} of another base model, refused with base_model_changed`;
}

/** Writes, reads and deletes a small object, and looks whether the adapters of the database are there. */
async function examineBucket({ config, withDatabase }: Examined): Promise<string> {
  if (config.adapterBucket === null) return 'in the data folder';
  const { openS3Bucket } = await import('../adapterStore/bucket/s3Bucket.js');
  const { probeBucket } = await import('../adapterStore/bucket/probeBucket.js');
  const bucket = openS3Bucket(config.adapterBucket);
  const patience = AbortSignal.timeout(maxProbeMs);
  try {
    await probeBucket(bucket, patience);
    await withDatabase(({ db }) => assertBucketOf(db, bucket, patience));
  } finally {
    bucket.close();
  }
  return `${bucket.url} can be written, read and deleted from`;
}

const maxProbeMs = 120_000;

function examineTracing({ config }: Examined): string {
  const tracing = usableTracing(config);
  return tracing === null ? 'off' : `sent as ${tracing.protocol}`;
}

/** Makes one small call without a passage. The server may charge for it. */
async function examineTeacher({ config: { teacher } }: Examined): Promise<string> {
  if (teacher === null) return 'none elsewhere';
  const server = openTeacherServer(teacher, { attempts: 1, response_ms: 60_000 });
  const messages = [{ role: 'user', content: 'Answer with one word: hello' }] as const;
  const outcome = await server.ask({ messages, maxTokens: 16, temperature: 0, seed: 0 });
  const where = `${teacher.model} at ${teacher.url}`;
  if (outcome.kind !== 'answered') throw new Error(`${where}: ${outcome.reason}`);
  const { inputTokens, outputTokens } = outcome.usage;
  return `${where}, whose receipts can be billed (${inputTokens} + ${outputTokens} tokens)`;
}
