/** Text that was copied as the source of a web page, or Markdown with tables of HTML in it. */
import { defaultTreeAdapter, parseFragment, type DefaultTreeAdapterTypes } from 'parse5';
import { code } from '../marks.js';
import { inMarkdown, tableOf } from './table.js';

type Node = DefaultTreeAdapterTypes.ChildNode;
type Element = DefaultTreeAdapterTypes.Element;

/** The text with elements of HTML as Markdown; a text without a block of them, and code, stay to the last character. */
export function withoutHtml(text: string): string {
  if (!hasBlock(text) || text.includes(hidden)) return text;
  const shown = text.replace(new RegExp(code, 'gu'), (found) => found.replaceAll('<', hidden));
  try {
    return asMarkdown(shown).replaceAll(hidden, '<');
  } catch (error) {
    if (error instanceof TooManyElements) return text;
    throw error;
  }
}

/** A character that means nothing by itself. */
const hidden = '\uE001';

const blockNames = 'table|ul|ol|dl|p|div|h[1-6]|section|article|body|html|main|details|pre|blockquote|tr|li|td';

/** "Use the tag <p>" has no block: one begins and ends. */
function hasBlock(text: string): boolean {
  if (!text.includes('</')) return false;
  const opened = new Set(
    [...text.matchAll(new RegExp(`<(${blockNames})(?=[\\s>])`, 'giu'))].map(([, name = '']) => name),
  );
  return [...opened].some((name) => text.lastIndexOf(`</${name}`) > text.indexOf(`<${name}`));
}

function asMarkdown(source: string): string {
  const { childNodes } = parsed(source);
  const context = { source, depth: 0, isWritten: true, lists: 0 };
  return childNodes
    .map((node) => blockOf(node, context))
    .join('')
    .replace(/\n{3,}/gu, '\n\n')
    .trim();
}

class TooManyElements extends Error {}

/**
 * Each paragraph opens every unclosed `<b>` before it again, so a page can have the square of its length in elements.
 * No page that somebody wrote has more elements than characters.
 */
function parsed(source: string): DefaultTreeAdapterTypes.DocumentFragment {
  let room = source.length;
  const createElement: typeof defaultTreeAdapter.createElement = (...given) => {
    if (room-- === 0) throw new TooManyElements();
    return defaultTreeAdapter.createElement(...given);
  };
  const treeAdapter = { ...defaultTreeAdapter, createElement };
  return parseFragment(source, { sourceCodeLocationInfo: true, treeAdapter });
}

interface Context {
  readonly source: string;
  /** Elements around. */
  readonly depth: number;
  /** Around is no element of HTML, or one of Markdown: the text stays as it was written, and its line breaks count. */
  readonly isWritten: boolean;
  readonly lists: number;
}

/** Nobody writes deeper ones; they are given as their words. */
const maxDepth = 100;
const words = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/u));
const left = words('script style template head title noscript iframe svg math object select');
const inline =
  words(`a abbr acronym b bdi bdo big cite code data del dfn em font i img input ins kbd label mark q s samp
  small span strike strong sub sup time tt u var wbr button`);
const blocks =
  words(`address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption
  figure footer form h1 h2 h3 h4 h5 h6 header hr html legend li main nav ol p pre section summary table tbody td tfoot
  th thead tr ul`);

function blockOf(node: Node, context: Context): string {
  if (defaultTreeAdapter.isTextNode(node)) return textOf(node, context);
  if (!defaultTreeAdapter.isElementNode(node) || left.has(node.tagName)) return '';
  if (context.depth >= maxDepth) return ` ${wordsOf(node)} `;
  const name = node.tagName;
  const isKnown = inline.has(name) || blocks.has(name);
  const isWritten = isKnown ? holdsMarkdown(node) : context.isWritten;
  const inner = { ...context, depth: context.depth + 1, isWritten };
  const below = (): string => node.childNodes.map((child) => blockOf(child, inner)).join('');
  if (name === 'br') return '\n';
  if (inline.has(name)) return below();
  if (!isKnown) return withTags(node, below(), context);
  if (name === 'table') return `\n\n${tableSource(node, inner)}\n\n`;
  if (name === 'ul' || name === 'ol') return `\n\n${listSource(node, inner)}\n\n`;
  if (name === 'dl') return `\n\n${definitions(node)}\n\n`;
  const level = /^h([1-6])$/u.exec(name)?.[1];
  if (level !== undefined) return `\n\n${'#'.repeat(Number(level))} ${wordsOf(node)}\n\n`;
  if (name === 'pre') return `\n\n${rawWords([node])}\n\n`;
  return `\n\n${below().trim()}\n\n`;
}

const containers = words('div details section article main body');

/** As in Markdown, where a blank line ends a block of HTML; the text of pages is indented. */
function holdsMarkdown({ tagName, childNodes }: Element): boolean {
  if (!containers.has(tagName)) return false;
  return childNodes.some((node) => defaultTreeAdapter.isTextNode(node) && /\n[ \t]*\n {0,3}\S/u.test(node.value));
}

function textOf({ value, sourceCodeLocation: place }: DefaultTreeAdapterTypes.TextNode, context: Context): string {
  if (!context.isWritten || place === null || place === undefined) return value.replace(/\s+/gu, ' ');
  return context.source.slice(place.startOffset, place.endOffset);
}

/** "<espresso>" is no element of HTML: its author meant what is written. */
function withTags({ sourceCodeLocation: place }: Element, text: string, { source }: Context): string {
  const tag = (range: { readonly startOffset: number; readonly endOffset: number } | undefined): string =>
    range === undefined ? '' : source.slice(range.startOffset, range.endOffset);
  return `${tag(place?.startTag)}${text}${tag(place?.endTag)}`;
}

function listSource(list: Element, context: Context): string {
  const inner = { ...context, depth: context.depth + 1, lists: context.lists + 1 };
  const indent = '   '.repeat(context.lists);
  return list.childNodes
    .filter((node) => isNamed(node, 'li'))
    .map((item, index) => {
      const nested = item.childNodes.filter((node): node is Element => isNamed(node, 'ul', 'ol'));
      const own = item.childNodes.filter((node) => !isNamed(node, 'ul', 'ol'));
      const mark = list.tagName === 'ol' ? `${index + 1}.` : '-';
      const isDeep = context.depth >= maxDepth;
      const below = nested.map((each) => (isDeep ? wordsOf(each) : listSource(each, inner)));
      return [`${indent}${mark} ${wordsIn(own)}`, ...below].join('\n');
    })
    .join('\n');
}

/** Terms and what is said of them, as keys and values. */
function definitions(list: Element): string {
  let term = '';
  return descendants(list, ['dt', 'dd'])
    .flatMap((node) => {
      if (node.tagName === 'dd') return [`- ${term.replace(/:$/u, '')}: ${wordsOf(node)}`];
      term = wordsOf(node);
      return [];
    })
    .join('\n');
}

function tableSource(table: Element, context: Context): string {
  const caption = descendants(table, ['caption']).map(wordsOf).join(' ');
  const rows = descendants(table, ['tr']);
  const cells = rows.map((row) => row.childNodes.filter((node): node is Element => isNamed(node, 'td', 'th')));
  const [first = [], ...others] = spanned(cells);
  if (others.length === 0 || first.length < 2) {
    // It only puts its cells in their places.
    return cells
      .flat()
      .flatMap(({ childNodes }) => ['\n\n', ...childNodes.map((node) => blockOf(node, context))])
      .join('');
  }
  const isHead =
    isNamed(rows[0]?.parentNode, 'thead') || (cells[0] ?? []).slice(1).every(({ tagName }) => tagName === 'th');
  // Without marks the first row of several columns is one of heads all the same.
  const isUnmarked = first.length > 2 && !cells.flat().some(({ tagName }) => tagName === 'th');
  const whole =
    isHead || isUnmarked
      ? tableOf(first, others)
      : tableOf(
          first.map(() => ''),
          [first, ...others],
        );
  return `${caption === '' ? '' : `${caption}\n\n`}${inMarkdown(whole)}`;
}

/** A cell that takes several rows or columns says the same in each. */
function spanned(rows: readonly (readonly Element[])[]): string[][] {
  const grid: string[][] = rows.map(() => []);
  let room = maxCells;
  for (const [at, row] of rows.entries()) {
    let column = 0;
    for (const cell of row) {
      while (grid[at]?.[column] !== undefined) column++;
      const [wide, high] = [spanOf(cell, 'colspan'), Math.min(spanOf(cell, 'rowspan'), rows.length - at)];
      const text = wordsOf(cell);
      for (let down = 0; down < high; down++) {
        for (let across = 0; across < wide && room > 0; across++, room--) {
          const line = grid[at + down];
          if (line !== undefined) line[column + across] = text;
        }
      }
      column += wide;
    }
  }
  return grid.map((row) => Array.from(row, (cell: string | undefined) => cell ?? ''));
}

/** More than the longest passage has cells for, unless it says that they are wide. */
const maxCells = 5_000;

function spanOf(cell: Element, name: string): number {
  const span = Number(cell.attrs.find((attribute) => attribute.name === name)?.value ?? 1);
  return Number.isInteger(span) && span > 0 ? Math.min(span, 50) : 1;
}

function isNamed(node: DefaultTreeAdapterTypes.Node | null | undefined, ...names: readonly string[]): node is Element {
  return node !== null && node !== undefined && 'tagName' in node && names.includes(node.tagName);
}

/** Elements of these names in order, without those inside another of them. */
function descendants(parent: Element, names: readonly string[], depth = 0): Element[] {
  if (depth > maxDepth) return [];
  return parent.childNodes.flatMap((node) => {
    if (!defaultTreeAdapter.isElementNode(node)) return [];
    return names.includes(node.tagName) ? [node] : descendants(node, names, depth + 1);
  });
}

function wordsOf(element: Element): string {
  return wordsIn(element.childNodes);
}

function wordsIn(nodes: readonly Node[]): string {
  return rawWords(nodes).replace(/\s+/gu, ' ').trim();
}

/** The words of nodes in order, however deep, with a space around each block. */
function rawWords(nodes: readonly Node[]): string {
  const found: string[] = [];
  const waiting: (Node | string)[] = [...nodes].reverse();
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (typeof node === 'string') found.push(node);
    else if (defaultTreeAdapter.isTextNode(node)) found.push(node.value);
    else if (defaultTreeAdapter.isElementNode(node) && !left.has(node.tagName)) {
      const space = blocks.has(node.tagName) || node.tagName === 'br' ? ' ' : '';
      waiting.push(space, ...[...node.childNodes].reverse(), space);
    }
  }
  return found.join('');
}
