/** Installs the packages of `npm run pack` in an empty folder and uses them there. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { z } from 'zod';
import { root } from '../docs/markdown.js';
import { startLocalRegistry, type LocalRegistry } from './localRegistry.js';

interface Outcome {
  readonly status: number | null;
  readonly output: string;
}

const hasTar = spawnSync('tar', ['--version']).status === 0;
const skip = hasTar ? false : 'there is no `tar`, with which packages are put before npm';

describe('the packages that are published', { skip }, () => {
  const packed = mkdtempSync(path.join(tmpdir(), 'engraft-packed-'));
  const folder = mkdtempSync(path.join(tmpdir(), 'engraft-empty-'));
  const installed = (...parts: string[]): string => path.join(folder, 'node_modules', ...parts);
  let registry: LocalRegistry;

  before(async () => {
    registry = await startLocalRegistry(root);
    const made = await run(process.execPath, [path.join(root, 'scripts/pack.mjs'), '--built', '--out', packed]);
    assert.equal(made.status, 0, made.output);
    const tarballs = readdirSync(packed);
    for (const name of tarballs) copyFileSync(path.join(packed, name), path.join(folder, name));
    const outcome = await npm('install', ...tarballs.map((name) => `./${name}`), '@types/node');
    assert.equal(outcome.status, 0, outcome.output);
  });
  after(async () => {
    await registry.close();
    for (const each of [packed, folder]) rmSync(each, { recursive: true, force: true });
  });

  /** npm in the folder, as if nothing were configured. No install script runs: one downloads libraries for CUDA. */
  function npm(...args: string[]): Promise<Outcome> {
    const cli = process.env['npm_execpath'];
    const flags = [`--registry=${registry.url}`, `--cache=${path.join(packed, 'cache')}`, '--ignore-scripts'];
    const [command, first] = cli === undefined ? ['npm', []] : [process.execPath, [cli]];
    return run(command, [...first, ...flags, '--no-audit', '--no-fund', ...args]);
  }

  async function run(command: string, args: readonly string[]): Promise<Outcome> {
    const child = spawn(command, args, { cwd: folder, env: cleanEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] });
    const [stdout, stderr, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit') as Promise<[number | null]>,
    ]);
    return { status, output: stdout + stderr };
  }

  test('bring the packages of this repository with them, and ask a registry for those of others', () => {
    assert.deepEqual(
      registry.asked.filter((name) => name.includes('engraft')),
      [],
    );
    assert.ok(registry.asked.includes('zod'));
    for (const name of ['contract', 'engine', 'learning', 'hub'])
      assert.ok(readdirSync(installed('engraft/node_modules/@engraft', name)).includes('dist'), name);
    assert.deepEqual(readdirSync(installed('@engraft')).sort(), ['client', 'engine']);
  });

  test('say what they are, and leave tests and private fields at home', () => {
    for (const name of ['engraft', '@engraft/client', '@engraft/engine']) {
      const manifest = z.looseObject({ license: z.string() }).parse(readJson(installed(name, 'package.json')));
      assert.equal(manifest.license, 'MIT', name);
      assert.deepEqual(manifest['engines'], { node: '>=20.19' }, name);
      for (const field of ['private', 'scripts', 'devDependencies'])
        assert.ok(!(field in manifest), `${name} ${field}`);
      const files = readdirSync(installed(name), { recursive: true, encoding: 'utf8' });
      assert.ok(files.includes('LICENSE') && files.includes('README.md'), name);
      assert.deepEqual(
        files.filter((file) => /\.test\.(js|ts|d)|[\\/]testing[\\/]/.test(file)),
        [],
      );
    }
  });

  test('`npx engraft quickstart` learns the sample', async () => {
    const { status, output } = await npm('exec', '--', 'engraft', 'quickstart');
    assert.equal(status, 0, output);
    assert.match(output, /version {5}ver_\S+, active for subject quickstart-/);
    const right = (who: string): number => output.split(`${who} ✓`).length - 1;
    assert.ok(right('new version ') > right('base        ') + 3, output);
  });

  test('the service that is installed serves the console, and the installed client calls it', async () => {
    const program = installed('engraft/packages/service/bin/engraft.js');
    const service = spawn(process.execPath, [program, 'serve', '--port', '0'], {
      cwd: folder,
      env: cleanEnvironment(),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(service, 'exit');
    try {
      const url = await firstLine(service.stdout).then((line) => line.replace('engraft listening on ', ''));
      const page = await fetch(`${url}/console`);
      assert.equal(page.status, 200);
      const script = /src="(\/console\/assets\/[^"]+\.js)"/.exec(await page.text())?.[1] ?? 'none';
      assert.equal((await fetch(url + script)).status, 200);
      const { status, output } = await runTypeScript(clientProgram(url));
      assert.equal(status, 0, output);
      assert.equal(output, 'model-5.3\n');
    } finally {
      service.kill();
      await ended;
    }
  });

  /** Checks a program with the strictest rules, types of libraries included, and runs it. */
  async function runTypeScript(source: string): Promise<Outcome> {
    writeFileSync(path.join(folder, 'program.mts'), source);
    const flags = ['--strict', '--exactOptionalPropertyTypes', '--module', 'nodenext', '--target', 'es2023'];
    const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
    const args = [compiler, ...flags, '--skipLibCheck', 'false', '--types', 'node', 'program.mts'];
    const checked = await run(process.execPath, args);
    return checked.status === 0 ? run(process.execPath, ['program.mjs']) : checked;
  }

  test('the installed engine trains and answers, and its types are whole', async () => {
    const example = installed('@engraft/engine/examples/train-and-answer.mjs');
    const { status, output } = await run(process.execPath, [example, installed('engraft/models/base')]);
    assert.equal(status, 0, output);
    assert.equal(output, 'Ada Kell.\n');
    const typed = await runTypeScript(`
      import { EngineError, startEngineHost } from '@engraft/engine';
      const start: Promise<unknown> = startEngineHost({ modelDir: 'nowhere' });
      await start.catch((error: unknown) => process.stdout.write(error instanceof EngineError ? error.code : 'other'));
    `);
    assert.equal(typed.status, 0, typed.output);
  });
});

/** The empty text when the stream ends without one. The rest is read and dropped, so that the writer goes on. */
function firstLine(stream: Readable): Promise<string> {
  return new Promise((resolve) => {
    const lines = createInterface({ input: stream });
    lines.once('line', resolve);
    lines.once('close', () => resolve(''));
  });
}

/** Nothing of npm, of the test runner or of Engraft: an installation elsewhere has none of it. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const isOurs = (name: string): boolean => /^(npm_|node_|init_cwd$|engraft_|database_url$)/i.test(name);
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOurs(name)));
}

function clientProgram(url: string): string {
  return `
    import { readFileSync } from 'node:fs';
    import { EngraftClient } from '@engraft/client';
    const apiKey = readFileSync('.engraft/default-key', 'utf8').trim();
    const client = new EngraftClient({ baseUrl: ${JSON.stringify(url)}, apiKey });
    const { data } = await client.models.list();
    console.log(data.map(({ id }) => id).join(' '));
  `;
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}
