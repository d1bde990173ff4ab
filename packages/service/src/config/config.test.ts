import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { readConfig, usableTracing, UsageError } from './config.js';

test('a chat completion waits 240 seconds unless told', () => {
  assert.equal(readConfig({}, {}).chatWaitMs, 240_000);
  assert.equal(readConfig({}, { ENGRAFT_CHAT_WAIT_SECONDS: '0' }).chatWaitMs, 0);
  assert.equal(readConfig({}, { ENGRAFT_CHAT_WAIT_SECONDS: '30' }).chatWaitMs, 30_000);
});

test('metrics and the description are beside the API unless a port of their own is named', () => {
  assert.equal(readConfig({}, {}).operations, null);
  const lone = { ENGRAFT_OPERATIONS_HOST: '10.0.0.1' };
  const message = /^ENGRAFT_OPERATIONS_HOST needs ENGRAFT_OPERATIONS_PORT/;
  assert.throws(() => readConfig({}, lone), { constructor: UsageError, message });
  const env = { ENGRAFT_OPERATIONS_PORT: '9464' };
  assert.deepEqual(readConfig({}, env).operations, { host: '127.0.0.1', port: 9464 });
  const host = { ENGRAFT_OPERATIONS_HOST: '10.0.0.1' };
  assert.deepEqual(readConfig({}, { ...env, ...host }).operations, { host: '10.0.0.1', port: 9464 });
});

test("no traces are taken unless OpenTelemetry's own variables name a collector", () => {
  const tracing = (env: NodeJS.ProcessEnv) => readConfig({}, env).tracing;
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318' };
  for (const off of [
    {},
    { OTEL_SERVICE_NAME: 'x', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://localhost:4318' },
    { OTEL_TRACES_EXPORTER: 'console' },
    { ...endpoint, OTEL_TRACES_EXPORTER: 'none' },
    { ...endpoint, OTEL_SDK_DISABLED: 'true' },
  ]) {
    assert.equal(tracing(off), null, JSON.stringify(off));
  }
  assert.deepEqual(tracing(endpoint), { protocol: 'http/protobuf' });
  assert.deepEqual(tracing({ OTEL_TRACES_EXPORTER: 'otlp' }), { protocol: 'http/protobuf' });
  assert.deepEqual(tracing({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://otel/v1/traces' }), {
    protocol: 'http/protobuf',
  });
  assert.deepEqual(tracing({ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' }), { protocol: 'http/json' });
  const byName = { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json' };
  assert.deepEqual(tracing({ ...endpoint, ...byName }), { protocol: 'http/json' });
  const grpc = /^OTEL_EXPORTER_OTLP_PROTOCOL must be http\/protobuf or http\/json/;
  const noUrl = /^OTEL_EXPORTER_OTLP_ENDPOINT must be a URL that starts with http/;
  // Other programs share these variables: whoever takes no traces is not stopped by them.
  const wrong = (env: NodeJS.ProcessEnv) => {
    const config = readConfig({}, env);
    return () => usableTracing(config);
  };
  assert.throws(wrong({ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }), {
    constructor: UsageError,
    message: grpc,
  });
  assert.throws(wrong({ OTEL_EXPORTER_OTLP_ENDPOINT: 'pa55word' }), { constructor: UsageError, message: noUrl });
});

test('a project has at most 10,000 open jobs and the service 100,000, unless told', () => {
  assert.deepEqual(readConfig({}, {}).open_jobs, { of_project: 10_000, of_service: 100_000 });
  const env = { ENGRAFT_PROJECT_OPEN_JOBS: '1', ENGRAFT_OPEN_JOBS: '999999' };
  assert.deepEqual(readConfig({}, env).open_jobs, { of_project: 1, of_service: 999_999 });
});

test('the engine keeps float32 weights within its own bounds unless told', () => {
  const read = (env: NodeJS.ProcessEnv) => {
    const { weights, cacheBytes, adapterBytes } = readConfig({}, env);
    return { weights, cacheBytes, adapterBytes };
  };
  assert.deepEqual(read({}), { weights: 'f32', cacheBytes: null, adapterBytes: null });
  const env = { ENGRAFT_WEIGHTS: 'q8', ENGRAFT_CACHE_BYTES: '1073741824', ENGRAFT_ADAPTER_BYTES: '1' };
  assert.deepEqual(read(env), { weights: 'q8', cacheBytes: 2 ** 30, adapterBytes: 1 });
  assert.equal(read({ ENGRAFT_WEIGHTS: 'q4' }).weights, 'q4');
});

test('trainings go to the trainers that are named', () => {
  const trainers = (list: string) => readConfig({}, { ENGRAFT_TRAINER_URL: list }).trainerUrls;
  assert.equal(readConfig({}, {}).trainerUrls, null);
  assert.equal(trainers(''), null);
  assert.deepEqual(trainers('http://a:8090/, https://b'), ['http://a:8090', 'https://b']);
});

test('trainers train the weights that the embedded engine answers with', () => {
  const read = (env: NodeJS.ProcessEnv) => readConfig({}, { ENGRAFT_TRAINER_URL: 'http://a:8090', ...env });
  const message = /^ENGRAFT_WEIGHTS must be f32 with ENGRAFT_TRAINER_URL/;
  for (const weights of ['q8', 'q4']) {
    assert.throws(() => read({ ENGRAFT_WEIGHTS: weights }), { constructor: UsageError, message });
    // The embedded engine does not answer.
    const vllm = { ENGRAFT_ENGINE: 'vllm', ENGRAFT_VLLM_URL: 'http://b:8000' };
    assert.equal(read({ ENGRAFT_WEIGHTS: weights, ...vllm }).weights, weights);
  }
  assert.equal(read({ ENGRAFT_WEIGHTS: 'f32' }).weights, 'f32');
});

test('months are archived only where told, and only when their jobs cannot be read any more', () => {
  const read = (env: NodeJS.ProcessEnv) => readConfig({ data: '/data' }, env).archive;
  assert.deepEqual(read({}), { afterMonths: null, folder: '/data/archive' });
  const kept = { ENGRAFT_ARCHIVE_AFTER_MONTHS: '3', ENGRAFT_JOB_RETENTION_DAYS: '93' };
  assert.deepEqual(read({ ...kept, ENGRAFT_ARCHIVE_DIR: '/old' }), { afterMonths: 3, folder: '/old' });
  for (const [env, message] of [
    [{ ENGRAFT_ARCHIVE_AFTER_MONTHS: '2' }, /^ENGRAFT_ARCHIVE_AFTER_MONTHS must be at least 3: .* 90 days$/],
    [{ ENGRAFT_ARCHIVE_AFTER_MONTHS: '1.5' }, /^ENGRAFT_ARCHIVE_AFTER_MONTHS must be a whole number of months/],
    [{ ENGRAFT_JOB_RETENTION_DAYS: '' }, /^ENGRAFT_JOB_RETENTION_DAYS is needed with ENGRAFT_ARCHIVE_AFTER_MONTHS/],
    [
      { ENGRAFT_JOB_RETENTION_DAYS: '94' },
      /^ENGRAFT_ARCHIVE_AFTER_MONTHS must not be shorter than ENGRAFT_JOB_RETENTION_DAYS.* at most 93 days$/,
    ],
  ] as const) {
    assert.throws(() => read({ ...kept, ...env }), { constructor: UsageError, message });
  }
});

test('what cannot be meant is refused by the name of its variable', () => {
  const refused: readonly (readonly [string, string, RegExp])[] = [
    ['ENGRAFT_TRAINER_URL', 'a:8090', /^ENGRAFT_TRAINER_URL must be one address that starts with http/],
    ['ENGRAFT_TRAINER_URL', 'http://me:secret@a', /^ENGRAFT_TRAINER_URL must hold no password$/],
    ['ENGRAFT_TRAINER_URL', 'http://a,http://a/', /^ENGRAFT_TRAINER_URL must name each server once$/],
    ['ENGRAFT_WEIGHTS', 'q5', /^ENGRAFT_WEIGHTS must be one of f32, q8, q4$/],
    ['ENGRAFT_PORT', '99999', /^ENGRAFT_PORT must be a number from 0 to 65535$/],
    ['ENGRAFT_BASE_URL', 'localhost:8080', /^ENGRAFT_BASE_URL must start with http:\/\/ or https:\/\/$/],
    ['DATABASE_URL', 'mysql://localhost/x', /^DATABASE_URL must start with postgres:\/\/$/],
    ['DATABASE_URL', 'postgres://u:p#q@localhost/x', /^DATABASE_URL is not a URL: .*percent-encoded/],
    ['DATABASE_URL', 'postgres://u:p%q@localhost/x', /^DATABASE_URL is not a URL: .*percent-encoded/],
    ['ENGRAFT_BASE_URL', 'engraft', /^ENGRAFT_BASE_URL must start with/],
    ['ENGRAFT_BASE_URL', 'http://u:pa55word@h', /^ENGRAFT_BASE_URL must not hold a user or password: the key is \w+$/],
    ['DATABASE_URL', 'pa55word', /^DATABASE_URL must start with postgres:\/\/$/],
    ...['ENGRAFT_PROJECT_OPEN_JOBS', 'ENGRAFT_OPEN_JOBS'].flatMap((name) =>
      ['0', '-1', '1.5', '1000000', 'unlimited'].map(
        (value) => [name, value, new RegExp(`^${name} must be a whole number of jobs from 1 to 999999$`)] as const,
      ),
    ),
    ...['ENGRAFT_CACHE_BYTES', 'ENGRAFT_ADAPTER_BYTES'].flatMap((name) =>
      ['0', '-1', '1.5', '2GiB', '1e9'].map(
        (value) => [name, value, new RegExp(`^${name} must be a whole number of bytes, at least 1$`)] as const,
      ),
    ),
  ];
  for (const [name, value, message] of refused) {
    assert.throws(() => readConfig({}, { [name]: value }), { constructor: UsageError, message }, `${name}=${value}`);
  }
});

test('an empty flag counts as unset, as an empty variable does: an address that is empty would be every address', () => {
  const unset = readConfig({}, {});
  assert.equal(unset.host, '127.0.0.1');
  assert.deepEqual(readConfig({ host: '', port: '', data: '' }, { ENGRAFT_HOST: '', ENGRAFT_DATA_DIR: '' }), unset);
  assert.equal(readConfig({ host: '' }, { ENGRAFT_HOST: '10.0.0.1' }).host, '10.0.0.1');
});

test('a database is named as PostgreSQL names it, also by the folder of its socket', () => {
  for (const url of ['postgresql://u:p%23q@[::1]:5432/x', 'postgres://u:p@/x?host=/run/postgresql', 'postgres:///x']) {
    assert.equal(readConfig({}, { DATABASE_URL: ` ${url}` }).databaseUrl, url);
  }
});

test('a teacher elsewhere is named by a base address and a model; there is none unless told', () => {
  assert.equal(readConfig({}, {}).teacher, null);
  const env = { ENGRAFT_TEACHER_URL: 'http://localhost:11434/v1/', ENGRAFT_TEACHER_MODEL: 'large' };
  assert.deepEqual(readConfig({}, env).teacher, { url: 'http://localhost:11434/v1', model: 'large', apiKey: null });
  assert.equal(readConfig({}, { ...env, ENGRAFT_TEACHER_API_KEY: 'sk-1' }).teacher?.apiKey, 'sk-1');
  const refused: readonly (readonly [NodeJS.ProcessEnv, RegExp])[] = [
    [{ ENGRAFT_TEACHER_URL: 'ftp://localhost/v1' }, /^ENGRAFT_TEACHER_URL must start with http:/],
    [{ ENGRAFT_TEACHER_URL: 'http://localhost' }, /^ENGRAFT_TEACHER_URL must be a base address that ends in \/v1$/],
    [{ ENGRAFT_TEACHER_URL: 'http://localhost/v1?key=x' }, /^ENGRAFT_TEACHER_URL must be a base address/],
    [{ ENGRAFT_TEACHER_URL: 'http://me:secret@localhost/v1' }, /^ENGRAFT_TEACHER_URL must hold no password/],
    [{ ENGRAFT_TEACHER_MODEL: '' }, /^ENGRAFT_TEACHER_MODEL is needed with ENGRAFT_TEACHER_URL$/],
    [{ ENGRAFT_TEACHER_URL: '' }, /^ENGRAFT_TEACHER_URL is needed with ENGRAFT_TEACHER_MODEL$/],
    [{ ENGRAFT_TEACHER_API_KEY: 'a secret\n' }, /^ENGRAFT_TEACHER_API_KEY must be printable ASCII without spaces$/],
  ];
  for (const [changed, message] of refused) {
    assert.throws(() => readConfig({}, { ...env, ...changed }), { constructor: UsageError, message });
  }
  const keyAlone = { ENGRAFT_TEACHER_API_KEY: 'sk-1' };
  assert.throws(() => readConfig({}, keyAlone), {
    message: /^ENGRAFT_TEACHER_URL is needed with ENGRAFT_TEACHER_API_KEY$/,
  });
});

test('credit is sold through Stripe where both of its secrets are named, which no message shows', () => {
  assert.equal(readConfig({}, {}).stripe, null);
  const env = { ENGRAFT_STRIPE_SECRET_KEY: 'sk_1', ENGRAFT_STRIPE_WEBHOOK_SECRET: 'whsec_1' };
  assert.deepEqual(readConfig({}, env).stripe, { secretKey: 'sk_1', webhookSecret: 'whsec_1', apiUrl: null });
  const elsewhere = { ...env, ENGRAFT_STRIPE_API_URL: 'http://localhost:12111' };
  assert.equal(readConfig({}, elsewhere).stripe?.apiUrl, 'http://localhost:12111');
  const refused: readonly (readonly [NodeJS.ProcessEnv, RegExp])[] = [
    [{ ENGRAFT_STRIPE_SECRET_KEY: '' }, /^ENGRAFT_STRIPE_SECRET_KEY is needed with ENGRAFT_STRIPE_WEBHOOK_SECRET$/],
    [{ ENGRAFT_STRIPE_WEBHOOK_SECRET: '' }, /^ENGRAFT_STRIPE_WEBHOOK_SECRET is needed with ENGRAFT_STRIPE_SECRET_KEY$/],
    [{ ENGRAFT_STRIPE_SECRET_KEY: 'a b' }, /^ENGRAFT_STRIPE_SECRET_KEY must be printable ASCII without spaces$/],
    [{ ENGRAFT_STRIPE_API_URL: 'ftp://localhost' }, /^ENGRAFT_STRIPE_API_URL must start with http:/],
    [{ ENGRAFT_STRIPE_API_URL: 'http://localhost/v1' }, /^ENGRAFT_STRIPE_API_URL must have no path$/],
  ];
  for (const [changed, message] of refused) {
    assert.throws(() => readConfig({}, { ...env, ...changed }), { constructor: UsageError, message });
  }
});

test('vLLM servers are named by their addresses, and only where they are to answer', () => {
  const env = { ENGRAFT_ENGINE: 'vllm', ENGRAFT_VLLM_URL: 'http://one:8000/, https://two' };
  const { engine, vllm } = readConfig({ data: '/data' }, env);
  assert.deepEqual(
    [engine, vllm],
    ['vllm', { urls: ['http://one:8000', 'https://two'], adapterFolder: path.resolve('/data/vllm'), maxAdapters: 16 }],
  );
  const folder = { ENGRAFT_VLLM_ADAPTER_DIR: '/shared', ENGRAFT_VLLM_ADAPTERS: '64' };
  const given = readConfig({}, { ...env, ...folder }).vllm;
  assert.deepEqual([given?.adapterFolder, given?.maxAdapters], [path.resolve('/shared'), 64]);
  assert.equal(readConfig({}, { ...env, ENGRAFT_ENGINE: 'embedded' }).vllm, null);
  const refused: readonly (readonly [NodeJS.ProcessEnv, RegExp])[] = [
    [{ ENGRAFT_VLLM_URL: '' }, /^ENGRAFT_VLLM_URL is needed with ENGRAFT_ENGINE=vllm$/],
    [{ ENGRAFT_VLLM_URL: 'ftp://one' }, /^ENGRAFT_VLLM_URL must be one address that starts with http:/],
    [{ ENGRAFT_VLLM_URL: 'http://one,' }, /^ENGRAFT_VLLM_URL must be one address/],
    [{ ENGRAFT_VLLM_URL: 'http://one/v1' }, /^ENGRAFT_VLLM_URL must not end in \/v1/],
    [{ ENGRAFT_VLLM_URL: 'http://me:secret@one' }, /^ENGRAFT_VLLM_URL must hold no password$/],
    [{ ENGRAFT_VLLM_URL: 'http://one,http://one/' }, /^ENGRAFT_VLLM_URL must name each server once$/],
    [{ ENGRAFT_VLLM_ADAPTERS: '0' }, /^ENGRAFT_VLLM_ADAPTERS must be a whole number/],
  ];
  for (const [changed, message] of refused) {
    assert.throws(() => readConfig({}, { ...env, ...changed }), { constructor: UsageError, message });
  }
});

test('adapters live in the data folder unless a bucket is named, which another server is asked for by its path', () => {
  const { adapterBucket, adapterCopiesBytes } = readConfig({}, {});
  assert.deepEqual([adapterBucket, adapterCopiesBytes], [null, 10_000_000_000]);
  const named = (engraftAdapterStore: string, more: NodeJS.ProcessEnv = {}) =>
    readConfig({}, { ENGRAFT_ADAPTER_STORE: engraftAdapterStore, ...more }).adapterBucket;
  assert.deepEqual(named('s3://my-bucket'), { bucket: 'my-bucket', prefix: '', pathStyle: false });
  for (const url of ['s3://my-bucket/of/team', 's3://my-bucket/of/team/']) {
    assert.deepEqual(named(url), { bucket: 'my-bucket', prefix: 'of/team/', pathStyle: false });
  }
  for (const name of ['AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_S3']) {
    assert.equal(named('s3://my-bucket', { [name]: 'http://localhost:9000' })?.pathStyle, true);
  }
  for (const wrong of [
    '/srv/adapters',
    's3://',
    's3://My_Bucket',
    's3://my-bucket//x',
    's3://my-bucket/../x y',
    'gs://b',
  ]) {
    assert.throws(() => named(wrong), {
      constructor: UsageError,
      message: /^ENGRAFT_ADAPTER_STORE must be of the form/,
    });
  }
  const bytes = { ENGRAFT_ADAPTER_COPIES_BYTES: '5000000' };
  assert.equal(readConfig({}, bytes).adapterCopiesBytes, 5_000_000);
});
