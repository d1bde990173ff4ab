import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { answerWith, refuseWith, startFaultyTeacher, type FaultyTeacher } from '../../testing/faultyTeacher.js';
import { startStubBucket, type StubBucket } from '../../testing/stubBucket.js';
import { openTestDatabase, type TestDatabase } from '../../testing/testDatabase.js';

const program = fileURLToPath(new URL('../../../bin/engraft.js', import.meta.url));

/** A fault injector is the teacher. */
describe('engraft doctor, with a teacher elsewhere', () => {
  let database: TestDatabase;
  let teacher: FaultyTeacher;
  let dataFolder: string;
  before(async () => {
    dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-doctor-'));
    database = await openTestDatabase();
    teacher = await startFaultyTeacher(answerWith('hello'));
  });
  after(async () => {
    await teacher.stop();
    await database.close();
    await rm(dataFolder, { recursive: true });
  });

  async function doctor(reply: FaultyTeacher['reply'], variables: NodeJS.ProcessEnv = {}) {
    teacher.reply = reply;
    const env = {
      ...process.env,
      DATABASE_URL: database.url,
      ENGRAFT_DATA_DIR: dataFolder,
      ENGRAFT_ENGINE: 'off',
      ENGRAFT_TEACHER_URL: teacher.url,
      ENGRAFT_TEACHER_MODEL: 'large',
      ENGRAFT_TEACHER_API_KEY: 'sk-secret',
      ...variables,
    };
    const child = spawn(process.execPath, [program, 'doctor'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = once(child, 'exit') as Promise<[number]>;
    const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    assert.ok(!(stdout + stderr).includes('sk-secret'));
    return { status, stdout, stderr };
  }

  it('makes one small call to it', async () => {
    const { status, stdout } = await doctor(
      answerWith('hello', { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 }),
    );
    assert.equal(status, 0);
    assert.match(stdout, /ok +teacher +large at http:.*\/v1, whose receipts can be billed \(9 \+ 2 tokens\)/);
    assert.equal(teacher.requests.length, 1);
  });

  it('says what is wrong with the collector of traces, which stops no command', async () => {
    const grpc = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4317', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
    const { status, stdout } = await doctor(answerWith('hello'), grpc);
    assert.equal(status, 1);
    assert.match(stdout, /WRONG +traces +OTEL_EXPORTER_OTLP_PROTOCOL must be/);
    teacher.requests.length = 0;
  });

  it('says what is wrong with it', async () => {
    for (const [reply, message] of [
      [refuseWith(401), /WRONG +teacher +large at .*: it answered with status 401: ENGRAFT_TEACHER_API_KEY is missing/],
      [refuseWith(503), /WRONG +teacher .*: it answered with status 503/],
      [answerWith('hello', null), /WRONG +teacher .*: it answered without usage/],
    ] as const) {
      teacher.requests.length = 0;
      const { status, stdout, stderr } = await doctor(reply);
      assert.equal(status, 1);
      assert.match(stdout, message);
      assert.equal(stderr, 'engraft: something is wrong with: teacher\n');
      assert.equal(teacher.requests.length, 1);
    }
  });
});

describe('engraft doctor, with a bucket of adapters', () => {
  let stub: StubBucket;
  let dataFolder: string;
  before(async () => {
    stub = await startStubBucket();
    dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-doctor-'));
  });
  after(async () => {
    await stub.stop();
    await rm(dataFolder, { recursive: true });
  });
  const doctor = async () => {
    const env = { ...process.env, ...stub.environment, ENGRAFT_DATA_DIR: dataFolder, ENGRAFT_ENGINE: 'off' };
    const child = spawn(process.execPath, [program, 'doctor'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = once(child, 'exit') as Promise<[number]>;
    const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { status, stdout, stderr };
  };

  it('writes, reads and deletes an object', async () => {
    const { status, stdout, stderr } = await doctor();
    assert.deepEqual([status, stderr], [0, '']);
    assert.match(stdout, /ok +adapters +s3:\/\/adapters\/of\/tests\/ can be written, read and deleted from/);
    assert.deepEqual(
      stub.requests.map(({ method }) => method),
      ['PUT', 'HEAD', 'GET', 'DELETE', 'HEAD'],
    );
    assert.equal(stub.objects.size, 0);
  });

  for (const [method, operation] of Object.entries({ PUT: 'put', GET: 'get', DELETE: 'delete' })) {
    it(`says that it may not ${operation}`, async () => {
      stub.fault = (request) => (request.method === method ? 403 : null);
      const { status, stdout, stderr } = await doctor();
      assert.equal(status, 1);
      assert.match(stdout, new RegExp(`WRONG +adapters +${operation} s3://adapters/of/tests/\\S+: AccessDenied`));
      assert.equal(stderr, 'engraft: something is wrong with: adapters\n');
    });
  }
});
