import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** The root of the repository, from `test/dist/conformance`. */
export const root = fileURLToPath(new URL('../../../', import.meta.url));

/** A test or a group of tests, as its file names it. */
export interface TestTitle {
  /** Relative to the root. */
  readonly file: string;
  readonly title: string;
}

const callees = new Set(['test', 'it', 'describe', 'suite']);

/** Every title in the sources of the tests, in the order of files and lines. */
export async function readTestTitles(): Promise<readonly TestTitle[]> {
  const files = [...(await testFiles('packages')), ...(await testFiles('test'))].sort();
  const titles = await Promise.all(
    files.map(async (file) => {
      const source = ts.createSourceFile(file, await readFile(path.join(root, file), 'utf8'), ts.ScriptTarget.Latest);
      return titlesIn(source).map((title) => ({ file, title }));
    }),
  );
  return titles.flat();
}

async function testFiles(folder: string): Promise<string[]> {
  const entries = await readdir(path.join(root, folder), { recursive: true });
  return entries
    .filter((entry) => entry.endsWith('.test.ts') && !/(^|[\\/])(node_modules|dist)[\\/]/.test(entry))
    .map((entry) => `${folder}/${entry.replaceAll('\\', '/')}`);
}

function titlesIn(source: ts.SourceFile): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && callees.has(node.expression.text)) {
      const title = node.arguments[0] === undefined ? null : titleOf(node.arguments[0]);
      if (title !== null) found.push(title);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** A part that is filled in at run time shows as `…`. */
function titleOf(node: ts.Expression): string | null {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return null;
  return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('');
}
