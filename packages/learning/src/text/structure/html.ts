/** Text copied from the source of a web page, or Markdown with HTML tables in it. */
import { defaultTreeAdapter, parseFragment, type DefaultTreeAdapterTypes } from 'parse5';
import { code } from '../marks.js';
import { inMarkdown, tableOf } from './table.js';

type Node = DefaultTreeAdapterTypes.ChildNode;
type Element = DefaultTreeAdapterTypes.Element;

/** Turns HTML elements into Markdown. Code, and a text without a block element, stays to the last character. */
export function withoutHtml(text: string): string {
  if (!hasBlock(text) || text.includes(hidden) || text.includes(gone)) return text;
  const shown = text.replace(new RegExp(code, 'gu'), (found) => found.replaceAll('<', hidden));
  try {
    return asMarkdown(shown).replaceAll(hidden, '<');
  } catch (error) {
    if (error instanceof TooManyElements) return text;
    throw error;
  }
}

/** Characters that mean nothing by themselves. `gone` stands where words were crossed out. */
const hidden = '\uE001';
const gone = '\uE003';

const blockNames = 'table|ul|ol|dl|p|div|h[1-6]|section|article|body|html|main|details|pre|blockquote|tr|li|td';

/** "Use the tag <p>" has no block, since a block begins and ends. */
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
    .replace(/(?<![^\n])\uE003 ?| ?\uE003/gu, '')
    .replace(/\n{3,}/gu, '\n\n')
    .trim();
}

class TooManyElements extends Error {}

/**
 * Each paragraph opens every unclosed `<b>` before it again, so the number of elements can be the square of the length
 * of the page. No page that somebody wrote has more elements than characters.
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
  /** Number of elements around it. */
  readonly depth: number;
  /**
   * Whether the element around it is none of HTML, or holds Markdown. Then the text stays as written, and its line
   * breaks count.
   */
  readonly isWritten: boolean;
  readonly lists: number;
}

/** Nobody nests elements deeper. Deeper ones become their words. */
const maxDepth = 100;
const words = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/u));
const left = words('script style template head title noscript iframe svg math object select del s strike');
const crossedOut = words('del s strike');
const inline = words(`a abbr acronym b bdi bdo big cite code data dfn em font i img input ins kbd label mark q samp
  small span strong sub sup time tt u var wbr button`);
const blocks =
  words(`address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption
  figure footer form h1 h2 h3 h4 h5 h6 header hr html legend li main nav ol p pre section summary table tbody td tfoot
  th thead tr ul`);

function blockOf(node: Node, context: Context): string {
  if (defaultTreeAdapter.isTextNode(node)) return textOf(node, context);
  if (!defaultTreeAdapter.isElementNode(node)) return '';
  if (left.has(node.tagName)) return crossedOut.has(node.tagName) ? gone : '';
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

/** As in Markdown, a blank line ends a block of HTML. In web pages the text is indented. */
function holdsMarkdown({ tagName, childNodes }: Element): boolean {
  if (!containers.has(tagName)) return false;
  return childNodes.some((node) => defaultTreeAdapter.isTextNode(node) && /\n[ \t]*\n {0,3}\S/u.test(node.value));
}

function textOf({ value, sourceCodeLocation: place }: DefaultTreeAdapterTypes.TextNode, context: Context): string {
  if (!context.isWritten || place === null || place === undefined) return value.replace(/\s+/gu, ' ');
  return context.source.slice(place.startOffset, place.endOffset);
}

/** "<espresso>" is no element of HTML. Its author meant what is written. */
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

/** Turns terms and their definitions into keys and values. */
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
    // A table that only arranges its cells on the page.
    return cells
      .flat()
      .flatMap(({ childNodes }) => ['\n\n', ...childNodes.map((node) => blockOf(node, context))])
      .join('');
  }
  const isHead =
    isNamed(rows[0]?.parentNode, 'thead') || (cells[0] ?? []).slice(1).every(({ tagName }) => tagName === 'th');
  // The first row of several columns holds heads, even without marks.
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

/** Repeats a cell that spans several rows or columns in each of them. */
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

/** More cells than the longest passage has, unless it declares wide ones. */
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
