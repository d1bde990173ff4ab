import { Lexer, type Token, type Tokens } from 'marked';
import { asTyped } from './asTyped.js';
import { withoutFootnotes } from './footnotes.js';
import { withoutLabels, withoutMarks, withoutReferences } from './marks.js';
import { clauseTitles, withoutClauseNumbers } from './structure/clauses.js';
import { withDelimitedTables } from './structure/delimited.js';
import { withoutHtml } from './structure/html.js';
import { isTitle, nameIn, namesSomething, releaseIn, under } from './structure/headings.js';
import { asTitle, asWritten, textOf, withoutDisputes, type Said, type Told } from './structure/said.js';
import { pairOf, sayList, statementOf, subjectsOf, type Place } from './structure/sayList.js';
import { sayTable } from './structure/sayTable.js';
import { tableOf } from './structure/table.js';
import { withoutWraps } from './wrappedLines.js';

/**
 * Turns a passage into plain sentences, including its lists of keys and values, its tables, and its questions with
 * answers. Under "Tarn 3 espresso machine", "- **Weight:** 8.4 kg" becomes "The weight of the Tarn 3 espresso machine
 * is 8.4 kg." Tables may be Markdown, HTML, or lines with a character between their cells.
 *
 * Text without such a structure stays as it is, except for marks of emphasis, links and footnotes, breaks inside
 * sentences, and what programs leave in texts (see `asTyped`). A model that reads sentences finds no subject in a list,
 * and the cloze and derived questions are made of sentences.
 */
export function plainText(content: string): string {
  return readPassage(content).text;
}

/** A passage in plain sentences, with what the sentences tell that were made of tables and lists. */
export interface PlainPassage {
  readonly text: string;
  readonly told: ReadonlyMap<string, Told>;
}

/** Reads a passage like `plainText`. `told` is by sentence. */
export function readPassage(content: string): PlainPassage {
  const numbered = withoutLabels(withoutWraps(withMarkedTables(withoutHtml(content))));
  const unmarked = withoutClauseNumbers(numbered);
  const titles = clauseTitles(numbered).map((text) => [withoutMarks(text), { kind: 'title', answer: '' }] as const);
  const tokens = withTitlesApart(blocksOf(unmarked));
  const isPlain = !tokens.some((token) => isStructured(token)) && titleOf(tokens) === null;
  if (isPlain) return { text: withoutMarks(unmarked), told: new Map(titles) };
  const lines = render(tokens, { title: null, subject: null, section: null, caption: '', parent: null, depth: 0 });
  const text = textOf(lines).trimEnd();
  const told = new Map([
    ...titles,
    ...withoutDisputes(lines).flatMap((line) => (line.told === null ? [] : [[line.text, line.told] as const])),
  ]);
  if (text.length <= maxGrowth * content.length) return { text, told };
  // A table grew too much: a thousand cells whose first one fills a page would repeat that page a thousand times.
  return { text: withoutMarks(withoutLabels(withoutWraps(withoutFootnotes(asTyped(content))))), told: new Map() };
}

/** The text as typed, with its tables as Markdown. A tab is a space in typing, but not between cells. */
function withMarkedTables(text: string): string {
  const typed = asTyped(text.replaceAll('\t', hiddenTab)).replaceAll(hiddenTab, '\t');
  return asTyped(withDelimitedTables(withoutReferences(withoutFootnotes(typed))));
}

/** A private-use character, which means nothing by itself and stays as it is. */
const hiddenTab = '\uE002';

/** The most that tables may grow. A table of short cells and long heads grows to three times its length. */
const maxGrowth = 5;

function isStructured(token: Token): boolean {
  return isHeading(token) || isList(token) || isTable(token) || isSheet(token, null);
}

/** Reads blocks only. Thousands of nested quotes exhaust the parser's stack, and hold no list that anybody wrote. */
function blocksOf(text: string): Token[] {
  try {
    return new Lexer({ gfm: true }).blockTokens(text, []);
  } catch (error) {
    if (error instanceof RangeError) return [];
    throw error;
  }
}

/** Makes a heading of a line directly above keys and values, where it names something or opens the text. */
function withTitlesApart(tokens: readonly Token[]): Token[] {
  return tokens.flatMap((token, index) => {
    const at = token.raw.indexOf('\n');
    if (token.type !== 'paragraph' || at < 0) return [token];
    const [raw, below] = [token.raw.slice(0, at + 1), { ...token, raw: token.raw.slice(at + 1) }];
    const text = withoutMarks(raw).trim();
    const isNamed = isTitle(text) && pairOf(text) === null && (index === 0 || namesSomething(text));
    return isNamed && isSheet(below, text)
      ? [{ type: 'heading', raw, text, depth: deepest, tokens: [] }, below]
      : [token];
  });
}

/** The depth of the lowest heading in Markdown. */
const deepest = 6;

function render(tokens: readonly Token[], place: Place): Said[] {
  let here = place;
  const lines: Said[] = [];
  let headings: readonly Tokens.Heading[] = [];
  for (const [index, token] of tokens.entries()) {
    const before = tokens.slice(0, index).findLast(({ type }) => type !== 'space');
    const heading = headingOf(token, before === undefined && place.depth === 0 ? tokens : []);
    if (heading !== null) {
      if (isHeading(token)) headings = [...headings.filter(({ depth }) => depth < token.depth), token];
      here = { ...here, ...under(heading, here), parent: textIn(headings.at(-2)) };
      lines.push(releaseIn(heading, place.title ?? here.title) ?? asTitle(nameIn(heading)));
    } else if (isList(token)) {
      const question = questionIn(before);
      const below = question === null ? here : { ...here, caption: question, parent: textIn(headings.at(-1)) };
      lines.push(...sayList(token, below, introducedBy(before), render));
    } else if (isTable(token)) {
      const caption = before === undefined || isHeading(before) ? here.caption : withoutMarks(before.raw);
      lines.push(...sayTable(tableIn(token), { subject: here.subject, caption }));
    } else if (isSheet(token, here.subject)) {
      lines.push(...sheetLines(token, here));
    } else {
      lines.push({ text: withoutMarks(token.raw), told: null, isRaw: true });
    }
  }
  return lines;
}

function textIn(heading: Tokens.Heading | undefined): string | null {
  return heading === undefined ? null : withoutMarks(heading.text);
}

/** The text of a heading, or of a line that serves as one for the tokens after it. */
function headingOf(token: Token, tokens: readonly Token[]): string | null {
  if (isHeading(token)) return withoutMarks(token.text);
  const text = token.type === 'paragraph' ? withoutMarks(token.raw).trim() : '';
  return releaseIn(text, null) === null ? titleOf(tokens) : text;
}

/** The first line of a text, if the lines of keys and values or the tables below are about what it names. */
function titleOf(tokens: readonly Token[]): string | null {
  const [first, ...others] = tokens.filter(({ type }) => type !== 'space');
  if (first?.type !== 'paragraph') return null;
  const title = withoutMarks(first.raw).trim();
  return isTitle(title) && others.some((token) => isTable(token) || isSheet(token, title)) ? title : null;
}

/** "The Tarn 3:" introduces a list about it. */
function introducedBy(before: Token | undefined): string | null {
  if (before === undefined || (before.type !== 'paragraph' && before.type !== 'text')) return null;
  const text = withoutMarks(before.raw).trim();
  return /^[^\n.?!,;]{1,60}:$/u.test(text) && namesSomething(text) ? text.slice(0, -1) : null;
}

/** "What are the opening hours?" says what the list below it is about. */
function questionIn(before: Token | undefined): string | null {
  if (before?.type !== 'paragraph') return null;
  const text = withoutMarks(before.raw).trim();
  return /^[^\n]{1,80}\?$/u.test(text) ? text : null;
}

function tableIn({ header, rows }: Tokens.Table) {
  const textOf = ({ text }: Tokens.TableCell): string => withoutMarks(text).trim();
  return tableOf(
    header.map(textOf),
    rows.map((row) => row.map(textOf)),
  );
}

/** Lines of keys and values whose subject is known. Dialogue is none: its lines end in a full stop. */
function isSheet(token: Token, subject: string | null): token is Tokens.Paragraph {
  if (token.type !== 'paragraph') return false;
  const texts = linesOf(token);
  const areKeyed = texts.every((text) => pairOf(text) !== null && !/[.?!]$/u.test(text));
  return texts.length >= 2 && areKeyed && (subject !== null || subjectsOf(texts).some((each) => each !== null));
}

function sheetLines(token: Tokens.Paragraph, place: Place): Said[] {
  const pairs = linesOf(token);
  const subjects = subjectsOf(pairs);
  return pairs.map((pair, at) => {
    return statementOf(pair, { ...place, subject: subjects[at] ?? place.subject }) ?? asWritten(pair);
  });
}

function linesOf({ raw }: Token): string[] {
  return raw
    .split('\n')
    .map((line) => withoutMarks(line).trim())
    .filter((line) => line !== '');
}

function isHeading(token: Token): token is Tokens.Heading {
  return token.type === 'heading';
}

function isList(token: Token): token is Tokens.List {
  return token.type === 'list';
}

function isTable(token: Token): token is Tokens.Table {
  return token.type === 'table';
}
