/** Tables that spreadsheets export and people paste, with cells between tabs, commas, semicolons, bars or wide gaps. */
import { parse } from 'csv-parse/sync';
import { commonKind, kindOfCell, momentOf } from './cellKinds.js';
import { isAttribute } from '../english/attributeWords.js';
import { inMarkdown, tableOf } from './table.js';

/** Turns each such table into Markdown. Other text, and code, stays to the last character. */
export function withDelimitedTables(text: string): string {
  if (!/[\t;,|]| {2}/u.test(text)) return text;
  const lines = text.split(lineEnd);
  const written: string[] = [];
  let fence: string | null = null;
  let found = false;
  const runs: Runs = new Map();
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? '';
    const mark = /^\s*(```|~~~)/u.exec(line)?.[1];
    if (mark !== undefined) fence = fence === null ? mark : fence === mark ? null : fence;
    const isMarked = line.includes('|') && isMarkdownRule(lines[at + 1] ?? '');
    const table = fence !== null || mark !== undefined || isMarked ? null : tableAt(lines, at, runs);
    if (table === null) {
      const from = at++;
      while (isMarked && lines[at]?.includes('|') === true) at++;
      written.push(...lines.slice(from, at));
      continue;
    }
    found = true;
    const [before, after] = [written.at(-1) ?? '', lines[at + table.length] ?? ''];
    written.push(...(before.trim() === '' ? [] : ['']), table.markdown, ...(after.trim() === '' ? [] : ['']));
    at += table.length;
  }
  return found ? written.join('\n') : text;
}

const lineEnd = /\r\n?|[\n\v\f\u0085\u2028\u2029]/u;

interface Delimiter {
  readonly mark: string;
  readonly between: RegExp;
  /** Lines may leave out empty cells at their ends. */
  readonly mayBeShort: boolean;
  readonly minLines: number;
  /** Whether the first line must hold heads, because the mark alone makes no table. */
  readonly needsHeads: boolean;
}

const delimiters: readonly Delimiter[] = [
  { mark: '\t', between: /\t/gu, mayBeShort: true, minLines: 2, needsHeads: false },
  { mark: '|', between: /\|/gu, mayBeShort: true, minLines: 2, needsHeads: true },
  { mark: ';', between: /;/gu, mayBeShort: false, minLines: 2, needsHeads: true },
  { mark: ',', between: /,/gu, mayBeShort: false, minLines: 2, needsHeads: true },
  { mark: '  ', between: /(?<=\S) {2,}(?=\S)/gu, mayBeShort: false, minLines: 3, needsHeads: true },
];

interface FoundTable {
  readonly markdown: string;
  /** Number of lines. */
  readonly length: number;
}

/**
 * For each delimiter, the last run of rows that was no table: where it ends, and how often a table was looked for in
 * it.
 */
type Runs = Map<Delimiter, { readonly end: number; readonly tries: number }>;

/** Prose above a table may look like rows of it. Each further try would read the whole run again. */
const maxTries = 3;

function tableAt(lines: readonly string[], at: number, runs: Runs): FoundTable | null {
  for (const delimiter of delimiters) {
    const run = runs.get(delimiter);
    const isInside = run !== undefined && at < run.end;
    if (isInside && run.tries >= maxTries) continue;
    const rows = rowsAt(lines, at, delimiter);
    const table = rows.length < delimiter.minLines ? null : tableFrom(rows, delimiter);
    if (table !== null) return { markdown: table, length: rows.length };
    if (isInside) runs.set(delimiter, { end: run.end, tries: run.tries + 1 });
    else runs.set(delimiter, { end: at + rows.length, tries: 1 });
  }
  return null;
}

/** The lines from here on that have as many cells as the first. */
function rowsAt(lines: readonly string[], at: number, delimiter: Delimiter): string[] {
  const rows: string[] = [];
  const wanted = cellCount(lines[at] ?? '', delimiter);
  if (wanted < 2) return rows;
  for (let index = at; index < lines.length && rows.length < maxRows; index++) {
    const line = lines[index] ?? '';
    if (otherMark.test(line)) break;
    const count = isRule(line, delimiter) ? wanted : cellCount(line, delimiter);
    if (count < 2 || count > wanted || (count < wanted && !delimiter.mayBeShort)) break;
    rows.push(line);
  }
  return rows;
}

/** Lines of Markdown that are something else. */
const otherMark = /^\s*(?:[-*>] |#+ |\d+[.)] )/u;

/** More than the longest passage has characters for, counting the cells that lines leave out. */
const maxCells = 10_000;

/** More rows than the longest passage has characters for, if each row says something. */
const maxRows = 2_000;

/** Counts cells, without looking into quotes if there are none. */
function cellCount(line: string, { between, mark }: Delimiter): number {
  if (line.trim() === '') return 0;
  const bare = mark === '|' ? line.trim().replace(/^\||\|$/gu, '') : line;
  const open = bare.includes('"') && mark !== '  ' ? bare.replace(/"(?:[^"]|"")*"/gu, 'x') : bare;
  return (open.match(between)?.length ?? 0) + 1;
}

/** The rule of a table that is Markdown already. */
function isMarkdownRule(line: string): boolean {
  return line.includes('|') && /^[\s|:-]*-[\s|:-]*$/u.test(line);
}

/** The line below the heads of a drawn table. */
function isRule(line: string, { mark }: Delimiter): boolean {
  return mark === '|' ? /^[\s|+:=-]*-[\s|+:=-]*$/u.test(line) : mark === '  ' && /^[-= ]*[-=]{3}[-= ]*$/u.test(line);
}

function tableFrom(lines: readonly string[], delimiter: Delimiter): string | null {
  const { mark } = delimiter;
  const cells = cellsOf(
    lines.filter((line) => !isRule(line, delimiter)),
    delimiter,
  );
  const [first, ...others] = cells ?? [];
  if (first === undefined || others.length === 0 || first.length * others.length > maxCells) return null;
  if (/[,;]/u.test(mark) && !isSeparated(lines, cells ?? [], mark)) return null;
  if (mark === '  ' && !areAligned(lines.filter((line) => !isRule(line, delimiter)))) return null;
  const heads = areHeads(first);
  const isDrawn = !delimiter.needsHeads || (mark === '|' && lines.every((line) => /^\s*[|+]/u.test(line)));
  const isTable = isDrawn ? cells?.some((row) => !isProse(row)) : heads && (first.length > 2 || others.length > 1);
  if (isTable !== true) return null;
  const table =
    heads && !isPair(first, others)
      ? tableOf(first, others)
      : tableOf(
          first.map(() => ''),
          cells ?? [],
        );
  return table.rows.length === 0 || table.heads.length < 2 ? null : inMarkdown(table);
}

function cellsOf(lines: readonly string[], { mark, between }: Delimiter): string[][] | null {
  if (mark === '  ') return lines.map((line) => line.trim().split(between));
  const bare = mark === '|' ? lines.map((line) => line.trim().replace(/^\||\|$/gu, '')) : lines;
  try {
    return parse(bare.join('\n'), {
      delimiter: mark,
      quote: mark === '|' ? null : '"',
      relax_column_count: true,
      relax_quotes: true,
      trim: true,
    });
  } catch {
    // A quote without its end.
    return null;
  }
}

/** Whether they are short and all different, and none is a value. */
function areHeads(cells: readonly string[]): boolean {
  const given = cells.slice(1);
  return (
    new Set(cells).size === cells.length &&
    given.every((cell) => cell !== '' && cell.length <= maxHead && !/[.!?:]$|[.!?] /u.test(cell)) &&
    cells.every((cell) => /\p{L}|\p{N}/u.test(cell) || cell === '' || cell === '#') &&
    cells.every((cell) => momentOf(cell) !== null || ['text', 'date', 'any', 'flag'].includes(kindOfCell(cell))) &&
    cells.some((cell) => /\p{L}/u.test(cell))
  );
}

const maxHead = 40;

/** Whether these are two columns of keys and values, including the first line. */
function isPair(first: readonly string[], others: readonly (readonly string[])[]): boolean {
  const [key = '', value = ''] = first;
  if (first.length !== 2 || !isAttribute(key)) return false;
  const kinds = new Set(others.map((row) => kindOfCell(row[1] ?? '')));
  return !isAttribute(value) && (kinds.size > 1 || others.every(([label = '']) => isAttribute(label)));
}

/** A comma or semicolon in prose is followed by a space, and a comma in a number stands between digits. */
function isSeparated(lines: readonly string[], cells: readonly (readonly string[])[], mark: string): boolean {
  const isTight = lines.every((line) => !line.replace(/"[^"]*"/gu, '').includes(`${mark} `));
  const width = cells[0]?.length ?? 0;
  if (isTight) return mark === ';' || lines.length >= (width > 2 ? 2 : 3);
  const areOpen = width >= 3 && lines.length >= 3 && lines.every((line) => !/[.!?;:,]$/u.test(line.trim()));
  return areOpen && !cells.some(isProse) && areColumns(cells);
}

/**
 * Names and verse also stand in lines of as many parts. But a column of a table has values, or a head that says what it
 * is.
 */
function areColumns([heads = [], ...rows]: readonly (readonly string[])[]): boolean {
  const isCapital = (text: string): boolean => /^\p{Lu}/u.test(text);
  const isNamed = heads.some((head) => isAttribute(head) && isCapital(head) === isCapital(heads[0] ?? ''));
  const kinds = heads.slice(1).map((_, at) => commonKind(rows.map((row) => row[at + 1] ?? '')));
  return isNamed || kinds.some((kind) => kind !== null && kind !== 'text' && kind !== 'any');
}

function isProse(cells: readonly string[]): boolean {
  return cells.some((cell) => /[.!?]["”')]?(?: |$)/u.test(cell) && cell.split(' ').length > 6);
}

/** Whether columns begin or end at the same place in all lines. */
function areAligned(lines: readonly string[]): boolean {
  const edges = lines.map((line) =>
    [...line.matchAll(/\S+(?: \S+)*/gu)].map(({ 0: cell, index }) => [index, index + cell.length]),
  );
  const columns = Math.max(...edges.map(({ length }) => length));
  return Array.from({ length: columns }, (_, at) => at).every((at) =>
    [0, 1].some((side) => new Set(edges.map((cells) => cells[at]?.[side])).size === 1),
  );
}
