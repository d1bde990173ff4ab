/** The documents at the front door name what is there. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { codeSpans, links, root, section, steps } from './markdown.js';

const read = (page: string): string => readFileSync(path.join(root, page), 'utf8');

/** Files and folders of the repository, with `/` between the names, without what is installed or compiled. */
const paths = pathsIn('');

function pathsIn(folder: string): string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = path.posix.join(folder, entry.name);
    if (!entry.isDirectory()) return [name];
    const isMade = ['node_modules', 'dist'].includes(entry.name) || entry.name.startsWith('.');
    return isMade ? [] : [name, ...pathsIn(name)];
  });
}

/** Files and folders that a page names in code type, such as `packages/engine/fixtures` or `learning.json`. */
function namedPaths(page: string): string[] {
  return codeSpans(page).filter((span) => /^[\w.@-]+(\/[\w.@-]+)*\/?$/.test(span) && isPath(span));
}

function isPath(span: string): boolean {
  return /\.(ts|mjs|cjs|json|jsonl|md|sql|py|svg)$/.test(span) || /^(packages|test|docs|bench|models)\//.test(span);
}

function isThere(named: string): boolean {
  const bare = named.replace(/\/$/, '');
  return paths.some((known) => known === bare || known.endsWith(`/${bare}`));
}

const pages = [
  ...['ARCHITECTURE.md', 'CONTRIBUTING.md', 'README.md'],
  ...['README.md', 'engine.md', 'glossary.md', 'learn-and-ask.md', 'teachers.md'].map((name) => `docs/${name}`),
];
for (const page of pages) {
  describe(page, () => {
    test('links lead to files that exist', () => {
      const known = new Set(paths);
      const targets = links(read(page)).map((target) => path.posix.join(path.posix.dirname(page), target));
      assert.deepEqual(
        targets.filter((target) => !known.has(target.replace(/\/$/, ''))),
        [],
      );
    });

    test('files named in code type exist', () => {
      assert.deepEqual(
        namedPaths(read(page)).filter((named) => !isThere(named)),
        [],
      );
    });
  });
}

describe('ARCHITECTURE.md', () => {
  for (const life of ['request', 'job', 'passage', 'adapter', 'version', 'charge']) {
    test(`each step names its file: ${life}`, () => {
      const numbered = steps(section(read('ARCHITECTURE.md'), life));
      assert.ok(numbered.length >= 5, life);
      assert.deepEqual(
        numbered.filter((step) => links(step).length === 0),
        [],
      );
    });
  }
});

describe('README.md', () => {
  const readme = read('README.md');

  test('has at most 500 words before the first table', () => {
    const before = readme.split(/^\|/m)[0] ?? '';
    assert.ok(before.length < readme.length);
    assert.ok(before.split(/\s+/).filter((word) => word !== '').length <= 500);
  });

  test('gives npm commands that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const given = [...readme.matchAll(/^npm (?:run )?(\w+)/gm)].map(([, name = '']) => name);
    assert.deepEqual(given, ['quickstart', 'test']);
    for (const name of given) assert.ok(name in scripts, name);
  });
});

test('every package has a README that says what may import it', () => {
  for (const name of readdirSync(path.join(root, 'packages')))
    assert.match(read(`packages/${name}/README.md`), /^## Who may import it$/m, name);
});

test('the glossary is linked from README, ARCHITECTURE and CONTRIBUTING, and has each word once', () => {
  for (const page of ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md'])
    assert.ok(links(read(page)).includes('docs/glossary.md'), page);
  const words = [...read('docs/glossary.md').matchAll(/^\| ([^|]+) \|/gm)].map(([, word = '']) => word);
  const terms = words.filter((word) => word !== 'term' && !word.startsWith('---'));
  assert.ok(terms.length > 40);
  assert.equal(new Set(terms).size, terms.length);
});
