import { z } from 'zod';
import type { OpenJobLimits } from '../admission/checkOpenJobs.js';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { adapterStoreVariables, bucketConfigOf, type BucketConfig } from './adapterStoreConfig.js';
import { missingOfStripe, stripeConfigOf, stripeVariables, type StripeConfig } from './stripeConfig.js';
import { missingOfTeacher, teacherConfigOf, teacherVariables, type TeacherConfig } from './teacherConfig.js';
import { addressList } from './addressList.js';
import { archiveConfigOf, archiveVariables, faultOfArchive, type ArchiveConfig } from './archiveConfig.js';
import { vllmConfigOf, vllmVariables, type VllmConfig } from './vllmConfig.js';
import { tracingConfigOf, tracingVariables, type TracingConfig, type TracingProblem } from './tracingConfig.js';

/** The settings from environment and flags. The table is in docs/operating. */
export interface Config {
  /** `null` for a PostgreSQL server embedded in the data folder. */
  readonly databaseUrl: string | null;
  /** Absolute. */
  readonly dataFolder: string;
  /** Absolute. */
  readonly modelFolder: string;
  /** The name of the model on the wire. */
  readonly model_id: string;
  readonly engine: 'embedded' | 'vllm' | 'off';
  /** Set with `vllm`, and not otherwise. */
  readonly vllm: VllmConfig | null;
  /** Addresses of PEFT trainers, at least one. `null` if the embedded engine trains. */
  readonly trainerUrls: readonly string[] | null;
  /** `null` if there is no remote teacher. */
  readonly teacher: TeacherConfig | null;
  /** `null` if no credit is sold. */
  readonly stripe: StripeConfig | null;
  /** The format of the weights, in answers and while learning. */
  readonly weights: (typeof weightFormats)[number];
  /** The most attention state that requests under way may use. `null` for the engine's own limit. */
  readonly cacheBytes: number | null;
  /** The most memory that loaded adapters may use. `null` for the engine's own limit. */
  readonly adapterBytes: number | null;
  /** Where adapters live; `null`: in the data folder. */
  readonly adapterBucket: BucketConfig | null;
  /** Bound on the copies of adapters on this machine, where they live in a bucket. */
  readonly adapterCopiesBytes: number;
  /** Where `engraft learn` and `engraft ask` find the service. `null` for the one that runs on the data folder. */
  readonly baseUrl: string | null;
  readonly host: string;
  /** 0 means any free port. */
  readonly port: number;
  /** Where metrics and the description of the API are served. `null` if they are beside the API. */
  readonly operations: { readonly host: string; readonly port: number } | null;
  /** `null` if no traces are taken. */
  readonly tracing: TracingConfig | TracingProblem | null;
  readonly chatWaitMs: number;
  /** Jobs are forgotten this many days after their end. `null` means never. */
  readonly jobRetentionDays: number | null;
  readonly archive: ArchiveConfig;
  readonly open_jobs: OpenJobLimits;
  readonly logLevel: (typeof logLevels)[number];
}

export const weightFormats = ['f32', 'q8', 'q4'] as const;

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** An environment variable or flag has an impossible value. The exit status is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Flags win over the environment. */
export interface ConfigFlags {
  readonly data?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: string | undefined;
  /** A checkpoint folder. */
  readonly model?: string | undefined;
}

/** The model that comes with the project: `models/base` beside `packages/`. */
export const shippedModelFolder = fileURLToPath(new URL('../../../../models/base', import.meta.url));

const port = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a number from 0 to 65535')
  .transform(Number)
  .pipe(z.int().max(65_535, 'must be a number from 0 to 65535'));

/** The URL of a unix socket has no host: `postgres://user:password@/database?host=/run/postgresql`. */
function isPostgresUrl(url: string): boolean {
  return URL.canParse(url.replace('@/', '@socket/')) && !/%(?![\da-f]{2})/i.test(url);
}

function oneOf<const Names extends readonly [string, ...string[]]>(names: Names) {
  return z.enum(names, { error: `must be one of ${names.join(', ')}` });
}

const byteCount = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, 'must be a whole number of bytes, at least 1')
  .transform(Number);

const jobCount = z
  .string()
  .regex(/^[1-9]\d{0,5}$/, 'must be a whole number of jobs from 1 to 999999')
  .transform(Number);

const environment = z.object({
  DATABASE_URL: z
    .string()
    .trim()
    .regex(/^postgres(ql)?:\/\//, 'must start with postgres://')
    .refine(isPostgresUrl, 'is not a URL: special characters of the password are percent-encoded, ports go to 65535')
    .optional(),
  ENGRAFT_DATA_DIR: z.string().default('.engraft'),
  ENGRAFT_MODEL_DIR: z.string().default(shippedModelFolder),
  ENGRAFT_MODEL_ID: z.string().default('model-5.3'),
  ENGRAFT_ENGINE: oneOf(['embedded', 'vllm', 'off']).default('embedded'),
  ...vllmVariables,
  ENGRAFT_TRAINER_URL: addressList.optional(),
  ...teacherVariables,
  ...stripeVariables,
  ...tracingVariables,
  ...adapterStoreVariables,
  ...archiveVariables,
  ENGRAFT_WEIGHTS: oneOf(weightFormats).default('f32'),
  ENGRAFT_CACHE_BYTES: byteCount.optional(),
  ENGRAFT_ADAPTER_BYTES: byteCount.optional(),
  ENGRAFT_BASE_URL: z
    .url({ protocol: /^https?$/, error: 'must start with http:// or https://' })
    .refine(
      (url) => !/\/v1\/*$/.test(url),
      'must not end in /v1, as it does for other clients: the paths begin with it',
    )
    .refine((url) => !/^[^/]*\/\/[^/]*@/.test(url), 'must not hold a user or password: the key is ENGRAFT_API_KEY')
    .optional(),
  ENGRAFT_HOST: z.string().default('127.0.0.1'),
  ENGRAFT_PORT: port.default(8080),
  ENGRAFT_OPERATIONS_HOST: z.string().optional(),
  ENGRAFT_OPERATIONS_PORT: port.optional(),
  ENGRAFT_CHAT_WAIT_SECONDS: z
    .string()
    .regex(/^\d{1,5}(\.\d{1,3})?$/, 'must be a number of seconds below 100000, with at most 3 decimals')
    .transform(Number)
    .default(240),
  ENGRAFT_JOB_RETENTION_DAYS: z
    .string()
    .regex(/^[1-9]\d{0,4}$/, 'must be a whole number of days from 1 to 99999')
    .transform(Number)
    .optional(),
  ENGRAFT_PROJECT_OPEN_JOBS: jobCount.default(10_000),
  ENGRAFT_OPEN_JOBS: jobCount.default(100_000),
  ENGRAFT_LOG_LEVEL: oneOf(logLevels).default('info'),
});

/**
 * Throws a `UsageError` that names the first wrong variable or flag. An empty variable or flag counts as unset, since
 * scripts pass on what they have.
 */
export function readConfig(givenFlags: ConfigFlags = {}, env: NodeJS.ProcessEnv = process.env): Config {
  const flags: ConfigFlags = withoutEmpty(givenFlags);
  const parsed = environment.safeParse(withoutEmpty(env));
  if (!parsed.success) throw new UsageError(describeFirstIssue(parsed.error));
  const values = parsed.data;
  const fault = missingOfTeacher(values) ?? missingOfStripe(values) ?? faultOfArchive(values);
  if (fault !== null) throw new UsageError(fault);
  const dataFolder = path.resolve(flags.data ?? values.ENGRAFT_DATA_DIR);
  const vllm = values.ENGRAFT_ENGINE === 'vllm' ? vllmConfigOf(values, dataFolder) : null;
  if (values.ENGRAFT_ENGINE === 'vllm' && vllm === null) {
    throw new UsageError('ENGRAFT_VLLM_URL is needed with ENGRAFT_ENGINE=vllm');
  }
  // An adapter is trained against the weights that it will answer with.
  const isTrainedElsewhere = values.ENGRAFT_ENGINE === 'embedded' && values.ENGRAFT_TRAINER_URL !== undefined;
  if (isTrainedElsewhere && values.ENGRAFT_WEIGHTS !== 'f32') {
    throw new UsageError('ENGRAFT_WEIGHTS must be f32 with ENGRAFT_TRAINER_URL: trainers read no blocks of bits');
  }
  return {
    databaseUrl: values.DATABASE_URL ?? null,
    dataFolder,
    modelFolder: path.resolve(flags.model ?? values.ENGRAFT_MODEL_DIR),
    model_id: values.ENGRAFT_MODEL_ID,
    engine: values.ENGRAFT_ENGINE,
    vllm,
    trainerUrls: values.ENGRAFT_TRAINER_URL ?? null,
    teacher: teacherConfigOf(values),
    stripe: stripeConfigOf(values),
    weights: values.ENGRAFT_WEIGHTS,
    cacheBytes: values.ENGRAFT_CACHE_BYTES ?? null,
    adapterBytes: values.ENGRAFT_ADAPTER_BYTES ?? null,
    adapterBucket: bucketConfigOf(values),
    adapterCopiesBytes: values.ENGRAFT_ADAPTER_COPIES_BYTES,
    baseUrl: values.ENGRAFT_BASE_URL ?? null,
    host: flags.host ?? values.ENGRAFT_HOST,
    port: flags.port === undefined ? values.ENGRAFT_PORT : parsePortFlag(flags.port),
    operations: operationsOf(values),
    tracing: tracingConfigOf(values),
    chatWaitMs: values.ENGRAFT_CHAT_WAIT_SECONDS * 1000,
    jobRetentionDays: values.ENGRAFT_JOB_RETENTION_DAYS ?? null,
    archive: archiveConfigOf(values, dataFolder),
    open_jobs: { of_project: values.ENGRAFT_PROJECT_OPEN_JOBS, of_service: values.ENGRAFT_OPEN_JOBS },
    logLevel: values.ENGRAFT_LOG_LEVEL,
  };
}

/** For code that takes traces, or checks whether they can be taken. Throws `UsageError`. */
export function usableTracing({ tracing }: Pick<Config, 'tracing'>): TracingConfig | null {
  if (tracing !== null && 'problem' in tracing) throw new UsageError(tracing.problem);
  return tracing;
}

function operationsOf(values: z.output<typeof environment>): Config['operations'] {
  const { ENGRAFT_OPERATIONS_HOST: host = '127.0.0.1', ENGRAFT_OPERATIONS_PORT: operationsPort } = values;
  if (operationsPort === undefined && values.ENGRAFT_OPERATIONS_HOST !== undefined) {
    throw new UsageError('ENGRAFT_OPERATIONS_HOST needs ENGRAFT_OPERATIONS_PORT: without it nothing is served there');
  }
  return operationsPort === undefined ? null : { host, port: operationsPort };
}

function withoutEmpty<Values extends object>(values: Values): Partial<Values> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '')) as Partial<Values>;
}

function parsePortFlag(text: string): number {
  const parsed = port.safeParse(text);
  if (!parsed.success) throw new UsageError(`--port ${describeFirstIssue(parsed.error).trim()}`);
  return parsed.data;
}

function describeFirstIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  return issue === undefined ? 'not valid' : `${issue.path.join('.')} ${issue.message}`;
}
