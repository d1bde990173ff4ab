import { lstat } from 'node:fs/promises';
import type { Command } from 'commander';
import { pino } from 'pino';
import { minJumpMs } from '../../clock/measureJump.js';
import { readClock } from '../../clock/observeClock.js';
import { type Config, readConfig, usableTracing } from '../../config/config.js';
import { isDatabaseReachable } from '../../db/isDatabaseReachable.js';
import { countVersionsByModel, type VersionsByModel } from '../../versions/baseModel.js';
import { assertBucketOf } from '../../adapterStore/findAdapterStore.js';
import { makeDataFolder } from '../../startup/dataFolder.js';
import { hasDatabase, type Installation, openInstallation } from '../../startup/installation.js';
import { openTeacherServer } from '../../teacherServer/teacherServer.js';
import { print, table } from '../output.js';
import { addPrintOptions, CommandFailure, type PrintOptions } from '../withDatabase.js';
import { withoutSecrets } from '../withoutSecrets.js';

interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** The finding, or the fault. */
  readonly detail: string;
}

export function addDoctorCommand(program: Command): void {
  addPrintOptions(
    program
      .command('doctor')
      .description('check Node, data folder, database, model, engine, bucket, teacher and traces'),
  ).action(async (options: PrintOptions) => {
    const config = readConfig(options);
    const checks: Check[] = [];
    const wanted = {
      ...examinations,
      ...(config.adapterBucket === null ? {} : { adapters: examineBucket }),
      ...(config.teacher === null ? {} : { teacher: examineTeacher }),
      ...(config.tracing === null ? {} : { traces: examineTracing }),
    };
    for (const [name, examine] of Object.entries(wanted)) checks.push(await check(name, () => examine(config)));
    const wrong = checks.filter(({ ok }) => !ok).map(({ name }) => name);
    print(
      options,
      { ok: wrong.length === 0, checks },
      table(checks.map(({ name, ok, detail }) => [ok ? 'ok' : 'WRONG', name, detail])),
    );
    if (wrong.length > 0) throw new CommandFailure(`something is wrong with: ${wrong.join(', ')}`);
  });
}

/**
 * Each returns what it found, or throws an error that says what is wrong. The engine is loaded only here, so that other
 * commands start faster.
 */
const examinations: Readonly<Record<string, (config: Config) => Promise<string> | string>> = {
  node: examineNode,
  'data folder': examineDataFolder,
  database: examineDatabase,
  clock: async (config) => ((await hasDatabase(config)) ? withInstallation(config, examineClock) : 'no database yet'),
  model: examineModel,
  engine: examineEngine,
};

async function check(name: string, examine: () => Promise<string> | string): Promise<Check> {
  try {
    return { name, ok: true, detail: await examine() };
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
async function examineDataFolder(config: Config): Promise<string> {
  const { dataFolder } = config;
  if (!(await exists(dataFolder))) return `${dataFolder} is not there yet: \`engraft serve\` makes it`;
  await makeDataFolder(dataFolder);
  return dataFolder;
}

async function examineDatabase(config: Config): Promise<string> {
  if (!(await hasDatabase(config))) return `none in ${config.dataFolder} yet: \`engraft serve\` makes one`;
  return withInstallation(config, async ({ db, unrestrictedBecause }) => {
    if (!(await isDatabaseReachable(db))) throw new Error('the database does not answer: its log says why');
    const rights =
      unrestrictedBecause === null ? '' : `, with the rights of the owner of its tables: ${unrestrictedBecause}`;
    return (config.databaseUrl === null ? 'embedded PostgreSQL' : 'PostgreSQL of DATABASE_URL') + rights;
  });
}

async function exists(folder: string): Promise<boolean> {
  return lstat(folder).then(
    () => true,
    () => false,
  );
}

async function withInstallation<Found>(
  config: Config,
  examine: (installation: Installation) => Promise<Found>,
): Promise<Found> {
  const installation = await openInstallation(config, { maxConnections: 1 });
  try {
    return await examine(installation);
  } finally {
    await installation.close();
  }
}

/**
 * The database's clock decides. It is compared with this machine's, and with the time at which the service last saw it.
 */
async function examineClock({ db }: Installation): Promise<string> {
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
      `it is ${time(now_ms)}, ${seconds(seen_ms - now_ms)} before the service last looked: the clock was set back, or was ahead then`,
    );
  }
  const leap = leapt_ms === null ? '' : `; it came back from more than a day away at ${time(leapt_ms)}`;
  return `it is ${time(now_ms)}; the service last looked ${seconds(now_ms - seen_ms)} ago${leap}`;
}

async function examineModel({ engine, modelFolder }: Config): Promise<string> {
  if (engine === 'off') return 'not needed: ENGRAFT_ENGINE is off';
  const { loadPromptMeter } = await import('../../startup/model.js');
  const { contextLength } = await loadPromptMeter(modelFolder);
  return `${modelFolder}, ${contextLength} tokens of context`;
}

async function examineEngine(config: Config): Promise<string> {
  if (config.engine === 'off') return 'off';
  const { loadServing } = await import('../../startup/model.js');
  const { engine, teachingAdapter } = await loadServing(config, pino({ level: 'silent' }));
  try {
    if (engine.trouble !== null) throw new Error(engine.trouble);
    const prompt = { messages: [{ role: 'user', content: 'Hello.' }] } as const;
    for (const adapter of teachingAdapter === null ? [null] : [null, teachingAdapter]) {
      await engine.generate({ prompt, adapter, maxOutputTokens: 1, temperature: 0 });
    }
    const { architecture, parameters, contentHash } = await engine.describe();
    const teaching = teachingAdapter === null ? '' : `, taught with the adapter in ${teachingAdapter.folder}`;
    // The database has a check of its own, which reports its faults.
    const count = (): Promise<VersionsByModel> =>
      withInstallation(config, ({ db }) => countVersionsByModel(db, contentHash));
    const versions = (await hasDatabase(config)) ? await count().catch(() => null) : null;
    const trained = versions === null ? '' : `; ${describeVersions(versions)}`;
    return `${config.engine}, ${architecture}, ${parameters} parameters${teaching}${trained}`;
  } finally {
    await engine.close();
  }
}

/** This is no fault: whoever tries another model may come back. */
function describeVersions({ retained, of_another_model }: VersionsByModel): string {
  const versions = `${retained} retained version${retained === 1 ? '' : 's'}`;
  if (of_another_model === 0) return versions;
  return `${versions}, of which ${of_another_model} of another base model, refused with base_model_changed`;
}

/** Writes, reads and deletes a small object, and looks whether the adapters of the database are there. */
async function examineBucket(config: Config): Promise<string> {
  if (config.adapterBucket === null) return 'in the data folder';
  const { openS3Bucket } = await import('../../adapterStore/bucket/s3Bucket.js');
  const { probeBucket } = await import('../../adapterStore/bucket/probeBucket.js');
  const bucket = openS3Bucket(config.adapterBucket);
  const patience = AbortSignal.timeout(maxProbeMs);
  try {
    await probeBucket(bucket, patience);
    if (await hasDatabase(config)) await withInstallation(config, ({ db }) => assertBucketOf(db, bucket, patience));
  } finally {
    bucket.close();
  }
  return `${bucket.url} can be written, read and deleted from`;
}

const maxProbeMs = 120_000;

function examineTracing(config: Config): string {
  const tracing = usableTracing(config);
  return tracing === null ? 'off' : `sent as ${tracing.protocol}`;
}

/** Makes one small call without a passage. The server may charge for it. */
async function examineTeacher({ teacher }: Config): Promise<string> {
  if (teacher === null) return 'none elsewhere';
  const server = openTeacherServer(teacher, { attempts: 1, response_ms: 60_000 });
  const messages = [{ role: 'user', content: 'Answer with one word: hello' }] as const;
  const outcome = await server.ask({ messages, maxTokens: 16, temperature: 0, seed: 0 });
  const where = `${teacher.model} at ${teacher.url}`;
  if (outcome.kind !== 'answered') throw new Error(`${where}: ${outcome.reason}`);
  const { inputTokens, outputTokens } = outcome.usage;
  return `${where}, whose receipts can be billed (${inputTokens} + ${outputTokens} tokens)`;
}
