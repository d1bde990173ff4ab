import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { crashPoints } from '@engraft/service/testing/crashOrder.js';
import ts from 'typescript';

const sourceFolder = fileURLToPath(new URL('../../../packages/service/src/', import.meta.url));

/** Files that need not name their boundaries, by the beginning of their paths, and why. */
const exempt: Readonly<Record<string, string>> = {
  'backup/':
    'an archive and what is restored bear passing names until they are whole, and keep services away: whoever was ' +
    'cut short begins anew, see refusals.test.ts',
  'cli/': 'what commands write is for people: reports and adapters in folders of their own',
  'adapterStore/bucket/probeBucket.ts': 'what a doctor that dies leaves is a kilobyte that nobody looks for',
  'db/embeddedPostgres/': 'a server is made under a passing name and renamed: embeddedPostgres.test.ts kills it there',
  'db/migrate.ts#apply': 'in the transaction of `migrate`',
  'db/migrate.ts#createRecord': 'in the transaction of `migrate`',
  'db/serviceRole/serviceRole.ts#prepareServiceLogin': 'in the transaction of `underLock`',
  'db/transaction.ts': 'names what its callers give it',
  'fileLock/': 'the lock is the kernel’s; what the file says is for people',
  'moving/readSubjectFile.ts': 'reads into a passing folder, from which `importSubject` keeps copies',
  'testing/': 'tests',
};

const fileEffects = new Set(
  'rename rm rmdir unlink mkdir mkdtemp writeFile appendFile copyFile cp chmod symlink link'.split(' '),
);
/** The methods of `adapterStore/bucket/s3Bucket.ts` that change a bucket. */
const objectEffects = new Set(['putObject', 'deleteObject']);
const rowEffects = new Set(['insertInto', 'updateTable', 'deleteFrom', 'replaceInto', 'mergeInto']);
const writingSql = /\b(insert into|update \w+ set|update \w+\s+set|delete from|truncate)\b/i;
const committingSql = /^\s*(COMMIT|CREATE|ALTER|GRANT|REVOKE|DROP|INSERT|UPDATE|DELETE)\b/;

interface Found {
  readonly at: number;
  readonly kind: 'effect' | 'point';
  readonly text: string;
}

describe('every boundary between two durable effects', () => {
  const names: string[] = [];
  const unnamed = sourceFiles().flatMap((file) => findUnnamed(file, names));

  it('has a name: a crash point follows each commit and each change of a file, before the next one', () => {
    assert.deepEqual(unnamed, []);
  });

  it('is passed somewhere', () => {
    assert.deepEqual(
      Object.keys(crashPoints).filter((name) => !names.includes(name)),
      [],
    );
  });

  it('would be missed', () => {
    const code = `
      import { rename, rm } from 'node:fs/promises';
      async function move() { await rename(a, b); crashPoint('x'); await rm(c); }
      async function write(db) { await db.updateTable('jobs').execute(); }
      async function inside(trx) { await trx.updateTable('jobs').execute(); }
      async function upload() { await bucket.putObject(a, b); await bucket.deleteObject(a); crashPoint('x'); }
      async function commit(db) { await inTransaction(db, null, work); }`;
    const missed = unnamedIn('worker/example.ts', code, []);
    assert.deepEqual(missed, [
      'worker/example.ts#move: rm(c)',
      "worker/example.ts#write: db.updateTable('jobs')",
      'worker/example.ts#upload: bucket.putObject(a, b)',
      'worker/example.ts#commit: inTransaction(db, null, work)',
    ]);
  });
});

function sourceFiles(): string[] {
  return readdirSync(sourceFolder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.endsWith('.d.ts'))
    .map((file) => file.split(path.sep).join('/'))
    .sort();
}

function findUnnamed(file: string, names: string[]): string[] {
  return unnamedIn(file, readFileSync(path.join(sourceFolder, file), 'utf8'), names);
}

/** Effects that no crash point follows in their function. Puts the names of crash points into `names`. */
function unnamedIn(file: string, code: string, names: string[]): string[] {
  const source = ts.createSourceFile(file, code, ts.ScriptTarget.Latest, true);
  const files = importsOf(source, 'node:fs/promises', 'node:fs');
  const calls = importsOf(source, './exchange.js');
  const functions = new Map<string, Found[]>();
  const visit = (node: ts.Node, owner: string): void => {
    const inside = ts.isFunctionDeclaration(node) && node.name !== undefined ? node.name.text : owner;
    const found = read(node, source, files, calls, names);
    if (found !== null) functions.set(inside, [...(functions.get(inside) ?? []), found]);
    ts.forEachChild(node, (child) => visit(child, inside));
  };
  visit(source, 'module');
  return [...functions].flatMap(([name, found]) => {
    const place = `${file}#${name}`;
    if (Object.keys(exempt).some((each) => (each.includes('#') ? place === each : place.startsWith(each)))) return [];
    const inOrder = found.sort((a, b) => a.at - b.at);
    return inOrder
      .filter(({ kind }, index) => kind === 'effect' && inOrder[index + 1]?.kind !== 'point')
      .map(({ text }) => `${place}: ${text}`);
  });
}

function read(
  node: ts.Node,
  source: ts.SourceFile,
  files: ReadonlySet<string>,
  calls: ReadonlySet<string>,
  names: string[],
): Found | null {
  const found = (kind: Found['kind']): Found => ({ at: node.getEnd(), kind, text: node.getText(source).slice(0, 60) });
  if (ts.isTaggedTemplateExpression(node) && node.tag.getText(source).startsWith('sql')) {
    return writingSql.test(node.template.getText(source)) ? found('effect') : null;
  }
  if (!ts.isCallExpression(node)) return null;
  const { expression: called, arguments: given } = node;
  if (ts.isIdentifier(called)) {
    const name = called.text;
    if (name === 'crashPoint' || name === 'crashPointOnceCommitted') {
      names.push(literal(given[name === 'crashPoint' ? 0 : 1]) ?? '');
      return found('point');
    }
    // Its name is passed when it has committed.
    if (name === 'inTransaction') {
      const committed = literal(given[1]);
      names.push(committed ?? '');
      return committed === null ? found('effect') : null;
    }
    if (calls.has(name) && name === 'post') return found('effect');
    if (!files.has(name)) return null;
    return fileEffects.has(name) || (name === 'open' && /^[wa]/.test(literal(given[1]) ?? 'w'))
      ? found('effect')
      : null;
  }
  if (!ts.isPropertyAccessExpression(called)) return null;
  if (objectEffects.has(called.name.text)) return found('effect');
  const receiver = called.expression.getText(source);
  if (rowEffects.has(called.name.text)) return receiver === 'trx' ? null : found('effect');
  const isCommit = called.name.text === 'query' && committingSql.test(textOf(given[0], source));
  return isCommit ? found('effect') : null;
}

function importsOf(source: ts.SourceFile, ...modules: readonly string[]): ReadonlySet<string> {
  const names = source.statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) || !modules.includes(literal(statement.moduleSpecifier) ?? '')) return [];
    const bindings = statement.importClause?.namedBindings;
    return bindings !== undefined && ts.isNamedImports(bindings) ? bindings.elements.map(({ name }) => name.text) : [];
  });
  return new Set(names);
}

function literal(node: ts.Node | undefined): string | null {
  return node !== undefined && ts.isStringLiteralLike(node) ? node.text : null;
}

/** The text of a string or a template, without its quotes. */
function textOf(node: ts.Node | undefined, source: ts.SourceFile): string {
  return node?.getText(source).replace(/^['"`]/, '') ?? '';
}
