// Renders `docs/` as static pages into `packages/service/dist/guide`, where the service finds them. What a page links
// to must exist: a broken link fails the build.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import { addressOfPage, pageName } from './addresses.mjs';
import { layOutPage } from './layOutPage.mjs';
import { readContents } from './readContents.mjs';
import { renderMarkdown } from './renderMarkdown.mjs';

/** The list of tests that keep the rules of the API is for developers alone. */
const leftOut = /^api\//;

export async function buildGuide(root) {
  const docs = join(root, 'docs');
  const target = join(root, 'packages', 'service', 'dist', 'guide');
  const files = readdirSync(docs, { recursive: true })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !leftOut.test(file));
  const sources = new Map(
    files.filter((file) => file.endsWith('.md')).map((file) => [file, readFileSync(join(docs, file), 'utf8')]),
  );
  const contents = readContents(sources.get('README.md'));
  const style = await readStyle(root);

  rmSync(target, { recursive: true, force: true });
  for (const [file, markdown] of sources) {
    const { title, html } = renderMarkdown(markdown, (href) => addressOf(href, file, sources, root));
    write(join(target, `${pageName(file)}.html`), layOutPage({ title, html, contents, file }));
  }
  for (const picture of files.filter((file) => /\.(png|svg)$/.test(file))) {
    mkdirSync(dirname(join(target, picture)), { recursive: true });
    cpSync(join(docs, picture), join(target, picture));
  }
  write(join(target, 'style.css'), style);
}

/**
 * Where a link of a page leads: to an address of the service, or, for a file that only the repository has, nowhere
 * (`null`).
 */
function addressOf(href, from, sources, root) {
  if (/^(https?|mailto):/.test(href) || href.startsWith('#')) return href;
  const [path, anchor] = href.split('#');
  const file = posix.normalize(posix.join('docs', posix.dirname(from), path)).replace(/\/$/, '');
  if (!existsSync(join(root, file))) throw new Error(`docs/${from} links to ${href}, which does not exist`);
  if (file === 'openapi.json') return '/openapi.json';
  if (!`${file}/`.startsWith('docs/')) return null;
  const inside = posix.relative('docs', file);
  const page = [inside, posix.join(inside, 'README.md')].find((each) => sources.has(each));
  if (page !== undefined) return addressOfPage(page) + (anchor === undefined ? '' : `#${anchor}`);
  return /\.(png|svg)$/.test(inside) ? `/docs/guide/${inside}` : null;
}

/** The reference's own style sheet, and what pages of prose need besides. */
async function readStyle(root) {
  const compiled = join(root, 'packages', 'service', 'dist', 'http', 'docs', 'style.js');
  const { style } = await import(pathToFileURL(compiled).href);
  return style.trimStart() + readFileSync(join(root, 'scripts', 'guide', 'guide.css'), 'utf8');
}

function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
