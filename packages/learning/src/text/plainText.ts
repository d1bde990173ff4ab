import { Lexer, type Token, type Tokens } from 'marked';
import { asTyped } from './asTyped.js';
import { withoutLabels, withoutMarks } from './marks.js';
import { isPersonName } from './english/personNames.js';
import { withoutWraps } from './wrappedLines.js';

/**
 * A passage with its lists of keys and values, its tables and its questions with answers said in plain sentences: under "Tarn 3 espresso
 * machine", "- **Weight:** 8.4 kg" becomes "The weight of the Tarn 3 espresso machine is 8.4 kg." Whatever has no such structure stays as it is, but for
 * the marks of emphasis and links, the breaks inside sentences, and what programs leave in texts (see `asTyped`).
 *
 * A model that reads sentences finds no subject in a list, and the cloze and derived questions are made of sentences.
 */
export function plainText(content: string): string {
  const unmarked = withoutLabels(withoutWraps(asTyped(content)));
  const tokens = blocksOf(unmarked);
  if (!tokens.some(isStructured)) return withoutMarks(unmarked);
  const sentences = render(tokens, { title: null, subject: null }).trimEnd();
  // A row of a thousand cells whose first one fills a page would say that page a thousand times.
  return sentences.length <= MAX_GROWTH * content.length ? sentences : withoutMarks(unmarked);
}

/** A table of short cells and long heads grows three times. */
const MAX_GROWTH = 5;

/** What the keys of a list are said of. */
interface Place {
  /** The last heading that names something. */
  readonly title: string | null;
  readonly subject: string | null;
}

function isStructured(token: Token): boolean {
  return isHeading(token) || isList(token) || isTable(token) || isSheet(token);
}

/** Blocks only. Thousands of nested quotes exhaust the parser's stack; they hold no list that anybody wrote. */
function blocksOf(text: string): Token[] {
  try {
    return new Lexer({ gfm: true }).blockTokens(text, []);
  } catch (error) {
    if (error instanceof RangeError) return [];
    throw error;
  }
}

function render(tokens: readonly Token[], place: Place): string {
  let here = place;
  let text = '';
  for (const [index, token] of tokens.entries()) {
    if (isHeading(token)) {
      here = under(withoutMarks(token.text), here);
      text += `${withoutMarks(token.text)}\n`;
    } else if (isList(token)) {
      const before = tokens.slice(0, index).findLast(({ type }) => type !== 'space');
      text += `${lines(token, here, introducedBy(before)).join('\n')}\n`;
    } else if (isTable(token)) {
      text += `${rows(token, here.subject).join('\n')}\n`;
    } else if (isSheet(token)) {
      const pairs = linesOf(token);
      const subjects = subjectsOf(pairs);
      text += `${pairs.map((pair, at) => statementOf(pair, subjects[at] ?? null) ?? asSentence(pair)).join('\n')}\n`;
    } else {
      text += withoutMarks(token.raw);
    }
  }
  return text;
}

/** Headings such as "Specifications" go on about what the one above them named; others that name nothing, as "Prices", say nothing of their keys. */
function under(heading: string, { title }: Place): Place {
  if (heading.endsWith('?') || heading.length > MAX_SUBJECT) return { title, subject: null };
  if (isGeneric(heading)) return { title, subject: title };
  const isFirstName = title === null && !heading.endsWith('s');
  return isFirstName || namesSomething(heading) ? { title: heading, subject: heading } : { title, subject: null };
}

/** Anything longer names nothing that could be spoken of. */
const MAX_SUBJECT = 80;

/** "3.1 Technical Specifications" is a part of what the document is about. */
function isGeneric(heading: string): boolean {
  return generic.test(heading.replace(/^\d+(?:\.\d+)*[.)]?\s+/u, ''));
}

const generic =
  /^(?:the )?(?:(?:key|technical|product|main|basic|general|quick|contact|additional|important|personal|further|other|company|project) )?(?:specifications?|specs|details|facts|data|features|overview|information|info|summary|profile|description|introduction|background|contacts?|installation|requirements|dimensions|measurements|at a glance)$/iu;

/** A capital after the first word, or a digit. */
function namesSomething(heading: string): boolean {
  return /\p{N}|\s\p{Lu}/u.test(heading);
}

/** "The Tarn 3:" introduces a list about it. */
function introducedBy(before: Token | undefined): string | null {
  if (before === undefined || (before.type !== 'paragraph' && before.type !== 'text')) return null;
  const text = withoutMarks(before.raw).trim();
  return /^[^\n.?!,;]{1,60}:$/u.test(text) && namesSomething(text) ? text.slice(0, -1) : null;
}

/** A line for each item and what stands below it; of one that only introduces others, these are said. */
function lines(list: Tokens.List, place: Place, introduced: string | null): string[] {
  const numbers = numbersOf(list);
  const subjects = subjectsOf(list.items.map(headOf));
  return list.items.flatMap(({ tokens: [first, ...below] }, index) => {
    const head = headOf({ tokens: first === undefined ? [] : [first] });
    const here = { ...place, subject: introduced ?? subjects[index] ?? place.subject };
    const own = head.endsWith(':') ? { ...here, subject: head.slice(0, -1) } : here;
    const words = [numbers[index] ?? '', head === '' ? '' : asSentence(head)].filter((part) => part !== '');
    const line = statementOf(head, here.subject) ?? words.join(' ');
    return [...(line === '' ? [] : [line]), ...(below.length === 0 ? [] : [render(below, own).trimEnd()])];
  });
}

/**
 * The numbers as written, since the answer "1987." is an item too after a list. Where every item has the same number,
 * Markdown counts.
 */
function numbersOf({ start, items }: Tokens.List): string[] {
  if (start === '') return [];
  const written = items.map(({ raw }) => /^\s*(\d+[.)])/u.exec(raw)?.[1] ?? '');
  const isCounted = items.length > 1 && written.every((number) => number === written[0]);
  return isCounted ? written.map((_, index) => `${start + index}.`) : written;
}

function headOf({ tokens: [first] }: { readonly tokens: readonly Token[] }): string {
  return withoutMarks(first?.raw ?? '').trim();
}

/** `null` for what is no key with its value, and for the line that names the subject. */
function statementOf(text: string, subject: string | null): string | null {
  const pair = pairOf(text);
  return pair === null || subject === null || pair.value === subject ? null : said(pair.key, subject, pair.value);
}

interface Pair {
  readonly key: string;
  readonly value: string;
}

/** A key of up to four words, and a value that is no sentence of its own. */
function pairOf(text: string): Pair | null {
  const [, key, value] = /^(\p{L}[^:\n.?!]{0,40}): +([^\n]{1,160})$/u.exec(text) ?? [];
  if (key === undefined || value === undefined) return null;
  const isAttribute = attribute.test(key) && !named.test(key) && !isPersonName(key);
  return isAttribute && !/[.?!] \p{Lu}/u.test(value) ? { key, value } : null;
}

/**
 * What the key of each line is said of: for "Product: Tarn 3" and "Price: $249", the product. A new record begins where
 * the naming key comes again. `null` for every line if none names a subject.
 */
function subjectsOf(texts: readonly string[]): (string | null)[] {
  const pairs = texts.map(pairOf);
  const first = pairs.find((pair) => pair !== null && naming.test(pair.key)) ?? null;
  let subject = first?.value ?? null;
  return pairs.map((pair) => {
    if (pair !== null && pair.key === first?.key) subject = pair.value;
    return subject;
  });
}

const naming = /^(?:(?:full |product |item |project |company )?name|title|product|model|item|project|company|event)$/iu;

/** Two or more lines of keys and values, one of which says whose they are; what people say in turn ends in a full stop. */
function isSheet(token: Token): token is Tokens.Paragraph {
  if (token.type !== 'paragraph') return false;
  const texts = linesOf(token);
  const areKeyed = texts.every((text) => pairOf(text) !== null && !/[.?!]$/u.test(text));
  return texts.length >= 2 && areKeyed && subjectsOf(texts).some((subject) => subject !== null);
}

function linesOf({ raw }: Token): string[] {
  return raw
    .split('\n')
    .map((line) => withoutMarks(line).trim())
    .filter((line) => line !== '');
}

/** One to four words, only the first of which may have capitals; a day or a month is no attribute of anything. */
const attribute = /^\p{L}[\p{L}-]*(?: \p{Ll}[\p{Ll}-]*){0,3}$/u;
const named =
  /^(?:\p{Lu}\p{Ll}+day|January|February|March|April|May|June|July|August|September|October|November|December)s?\b/u;

/**
 * Says each value of what the first cell of its row names. If the titles of a table of two columns say so, its rows are
 * keys and values.
 */
function rows(table: Tokens.Table, subject: string | null): string[] {
  const textOf = ({ text }: Tokens.TableCell): string => withoutMarks(text).trim();
  const [titles, ...body] = withoutIndex([table.header.map(textOf), ...table.rows.map((row) => row.map(textOf))]);
  if (titles === undefined) return [];
  const isKeyed = titles.length === 2 && keyed.test(titles[0] ?? '');
  return body.flatMap(([first = '', ...others]) => {
    if (others.every((value) => value === '')) return first === '' ? [] : [asSentence(first)];
    return others.flatMap((value, index) => {
      if (value === '') return [];
      const [key, of] = isKeyed ? [first, subject ?? ''] : [titles[index + 1] ?? '', first];
      return [key === '' || of === '' ? asSentence(`${key}${of}: ${value}`) : said(key, of, value)];
    });
  });
}

/** Leaves out a first column that only counts. */
function withoutIndex(cells: readonly (readonly string[])[]): (readonly string[])[] {
  const [titles = [], ...body] = cells;
  const isIndex =
    /^(?:#|no\.?|nr\.?|id|index|)$/iu.test(titles[0] ?? '') && body.every(([first = '']) => /^\d+\.?$/u.test(first));
  return cells.map((row) => (isIndex && titles.length > 2 ? row.slice(1) : row));
}

const keyed = /^(?:|property|field|feature|attribute|key|parameter|specification|spec|fact|detail|setting)$/iu;

function said(key: string, subject: string, value: string): string {
  const [name, plural] = [lowerFirst(key.trim()), /[^s]s$/u.test(key.trim())];
  return asSentence(`The ${name} of ${withArticle(subject)} ${plural ? 'are' : 'is'} ${value.trim()}`);
}

/** "the Tarn 3 espresso machine", but "Birch" and "Ola Nygaard". */
function withArticle(subject: string): string {
  const endsInNoun = /\p{L}\P{L}/u.test(subject) && /\s\p{Ll}+$/u.test(subject);
  return endsInNoun && !/^(?:the|an?|our|my)\s/iu.test(subject) ? `the ${subject}` : subject;
}

/** "Weight" is a word, "USB ports" begins with a name. */
function lowerFirst(text: string): string {
  return /^\p{Lu}(?:\p{Ll}|\s|$)/u.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

function asSentence(text: string): string {
  return /[.!?:]["”')]?$/u.test(text) ? text : `${text}.`;
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
