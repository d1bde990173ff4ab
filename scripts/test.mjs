// `npm test`: installs and builds what is missing, then runs every check; exits non-zero if one fails.
// `npm test -- packages/engine` runs the tests of one folder only, or of one file.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureBuilt, ensureInstalled, requireNode, root, step } from './lib/steps.mjs';

requireNode();
const folders = process.argv.slice(2).map((folder) => folder.replace(/\/+$/, ''));
await ensureInstalled();
await ensureBuilt();
if (folders.length === 0) {
  await step('Formatting', tool('prettier/bin/prettier.cjs', '--check', '.'), {
    advice: '`npm run format` mends this.',
  });
  await step('Lint', tool('eslint/bin/eslint.js', '.', '--max-warnings', '0'));
  await step(
    'Dependency rules',
    tool('dependency-cruiser/bin/dependency-cruise.mjs', ...sourceFolders(), '--config', '.dependency-cruiser.cjs'),
  );
  await step('Spelling', tool('cspell/bin.mjs', 'lint', '--no-progress', '--no-summary'), {
    advice: 'Words that are right belong in scripts/prose/words.txt.',
  });
  await step('Prose', [process.execPath, [join(root, 'scripts', 'prose', 'checkProse.mjs')]]);
}
process.exitCode = await runTests(testFiles(folders));

function tool(path, ...args) {
  return [process.execPath, [join(root, 'node_modules', path), ...args]];
}

function sourceFolders() {
  return readdirSync(join(root, 'packages')).map((name) => `packages/${name}/src`);
}

/** Every compiled test and those of the benches, or those of the named folders. */
function testFiles(only) {
  const all = [...readdirSync(join(root, 'packages')).map((name) => `packages/${name}`), 'test', 'bench'];
  return all.flatMap((folder) => {
    // The benches are not compiled. Their peers in bench/.peers bring tests of their own.
    const [output, parts, ending] =
      folder === 'bench'
        ? [folder, ['lib', 'engine', 'faults'], '.test.mjs']
        : [join(folder, 'dist'), ['.'], '.test.js'];
    const files = parts.flatMap((part) => filesIn(join(output, part), ending));
    if (only.length === 0 || only.includes(folder)) return files;
    // A folder of sources has its tests in the same folder of `dist`, and `a.test.ts` is `a.test.js` there.
    const inside = only.filter((each) => each.startsWith(`${folder}/`)).map((each) => each.slice(folder.length + 1));
    const wanted = inside.map((part) => join(root, output, part.replace(/^src(?=\/|$)/, '.').replace(/\.ts$/, '.js')));
    return files.filter((file) =>
      wanted.some((each) => file === each || file.startsWith(`${each}${sep}`) || each === join(root, output)),
    );
  });
}

function filesIn(folder, ending) {
  const path = join(root, folder);
  if (!existsSync(path)) return [];
  return readdirSync(path, { recursive: true })
    .filter((file) => file.endsWith(ending))
    .map((file) => join(path, file));
}

/** The tests share one PostgreSQL server, and each file makes databases of its own on it. */
async function runTests(files) {
  if (files.length === 0) {
    console.error(`No test under ${folders.join(', ')}.`);
    return 1;
  }
  const { attachEmbeddedPostgres } = await import(
    pathToFileURL(join(root, 'packages/service/dist/db/embeddedPostgres/index.js')).href
  );
  const dataFolder = mkdtempSync(join(tmpdir(), 'engraft-test-'));
  const given = process.env.ENGRAFT_TEST_DATABASE_URL;
  const server = given ? null : await attachEmbeddedPostgres(dataFolder);
  console.log(`  … ${files.length} test files on ${given ? 'the given' : 'an embedded'} PostgreSQL`);
  try {
    return await new Promise((resolve) => {
      // These reporters repeat what failed at the end, where a log of thousands of lines is read first.
      const reporters = ['spec', './scripts/lib/strayErrors.mjs'].flatMap((reporter) => [
        `--test-reporter=${reporter}`,
        '--test-reporter-destination=stdout',
      ]);
      const options = ['--enable-source-maps', '--test', ...reporters, '--test-concurrency=2'];
      const child = spawn(process.execPath, [...options, ...files], {
        cwd: root,
        stdio: ['ignore', 'inherit', 'inherit'],
        env: { ...process.env, ENGRAFT_TEST_DATABASE_URL: given || server.url },
      });
      child.on('close', (code) => resolve(code ?? 1));
    });
  } finally {
    await server?.release();
    rmSync(dataFolder, { recursive: true, force: true });
  }
}
