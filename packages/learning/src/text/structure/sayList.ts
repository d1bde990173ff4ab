/** Says lists of keys and values as sentences, however deep they are. */
import type { Token, Tokens } from 'marked';
import { isAttribute } from '../english/attributeWords.js';
import { isPersonName } from '../english/personNames.js';
import { withoutMarks } from '../marks.js';
import { capitalised } from '../strings.js';
import { momentOf } from './cellKinds.js';
import { hoursIn } from './hours.js';
import { asSentence, asWritten, copulaOf, lowerFirst, said, trimmed, withArticle, type Said } from './said.js';

/** Where a list stands, and so what its keys are about. */
export interface Place {
  /** The last heading that names something. */
  readonly title: string | null;
  readonly subject: string | null;
  /** The item around a list, which names a part of the subject or a value of it, such as "Meals" or "Deposit". */
  readonly section: string | null;
  /** The heading or line above, whatever it says. */
  readonly caption: string;
  /** The heading around that one. */
  readonly parent: string | null;
  /** How many lists are around it. */
  readonly depth: number;
}

/**
 * One line for each item and for what stands below it, by `render`. An item that only introduces others gives their
 * lines.
 */
export function sayList(
  list: Tokens.List,
  place: Place,
  introduced: string | null,
  render: (tokens: readonly Token[], place: Place) => Said[],
): Said[] {
  const numbers = numbersOf(list);
  const subjects = subjectsOf(list.items.map(headOf));
  const areRecords = haveSameKeys(list);
  return list.items.flatMap((item, index) => {
    const [first, ...below] = withoutBox(item.tokens);
    const head = headOf({ tokens: first === undefined ? [] : [first] });
    const here = { ...place, subject: introduced ?? subjects[index] ?? place.subject };
    const label = head.replace(/:$/u, '');
    const isLabel = below.length > 0 && label !== '' && pairOf(head) === null;
    const section = isLabel && !areRecords ? { section: label } : {};
    const own = {
      ...here,
      depth: place.depth + 1,
      ...(isLabel && areRecords ? { subject: label, section: null } : section),
    };
    const box = item.task ? (item.checked === true ? '[x]' : '[ ]') : '';
    const words = [numbers[index] ?? '', box, head === '' ? '' : asSentence(head)]
      .filter((part) => part !== '')
      .join(' ');
    const line = isLabel
      ? null
      : (statementOf(head, here) ?? hoursIn(head, here.caption, here.parent) ?? inSection(head, here));
    return [...(line === null ? lineOf(words) : [line]), ...trimmed(render(below, own))];
  });
}

function lineOf(text: string): Said[] {
  return text === '' ? [] : [{ text, told: null }];
}

/** Whether items say the same things about several subjects: "Floor" and "Seats" of Birch, then of Cedar. */
function haveSameKeys({ items }: Tokens.List): boolean {
  const keys = items.map(({ tokens }) =>
    withoutBox(tokens)
      .slice(1)
      .flatMap((token) =>
        token.type === 'list' ? (token as Tokens.List).items.map((item) => pairOf(headOf(item))?.key ?? '') : [],
      ),
  );
  const [first = [], ...others] = keys.filter((ofItem) => ofItem.length > 0);
  return others.length > 0 && others.every((ofItem) => ofItem.some((key) => key !== '' && first.includes(key)));
}

/**
 * The numbers as written, since the answer "1987." is also an item after a list. If every item has the same number,
 * Markdown counts.
 */
function numbersOf({ start, items }: Tokens.List): string[] {
  if (start === '') return [];
  const written = items.map(({ raw }) => /^\s*(\d+[.)])/u.exec(raw)?.[1] ?? '');
  const isCounted = items.length > 1 && written.every((number) => number === written[0]);
  return isCounted ? written.map((_, index) => `${start + index}.`) : written;
}

/** Without the comma that leads to the next item. */
function headOf({ tokens }: { readonly tokens: readonly Token[] }): string {
  const [first] = withoutBox(tokens);
  return withoutMarks(first?.raw ?? '')
    .replace(/^\[[ xX]\] /u, '')
    .trim()
    .replace(/[,;](?: (?:and|or))?$/u, '');
}

/** The tokens of an item without the box of a checklist. In a list with blank lines the box is part of the text. */
function withoutBox(tokens: readonly Token[]): readonly Token[] {
  return tokens[0]?.type === 'checkbox' ? tokens.slice(1) : tokens;
}

/** `null` if the text is no key with a value, or if it names the subject. */
export function statementOf(text: string, { subject, section }: Pick<Place, 'subject' | 'section'>): Said | null {
  const pair = pairOf(text);
  if (pair === null || opensPhrase.test(pair.key)) return null;
  if (announcing.test(pair.key) || isClause(pair.value)) return announced(pair);
  if (order.test(pair.value)) return asWritten(`${pair.key}: ${pair.value}`);
  if (section !== null) return saidInSection(pair, section);
  return subject === null || pair.value === subject ? null : said(pair.key, subject, pair.value);
}

/** "New: notes can be shared" and "Note: the door is locked" say what stands behind the label. */
function announced({ key, value }: Pair): Said {
  const text = capitalised(value);
  if (!announcing.test(key) || keptLabel.test(key)) return asWritten(`${key}: ${value}`);
  return newsIn(text) ?? asWritten(isClause(value) ? text : `${key}: ${value}`);
}

/** A change, which is no attribute of anything. */
const announcing =
  /^(?:new|added?|addition|improved?|improvement|enhanced|enhancement|changed?|updated?|update|fix(?:ed)?|bug ?fix|removed?|dropped|deprecated|security|breaking(?: change)?|note|important|please note|tip|attention|warning|hint|nb)$/iu;
/** "Keys: ask Bo" says what to do. */
const order = /^(?:ask|call|contact|email|phone|press|read|see|send|visit|write) \S/u;
/** Without them the rest would say the opposite. */
const keptLabel = /^(?:fix(?:ed)?|bug ?fix|removed?|dropped|deprecated|security)$/iu;

/** "notes can be shared", "the app now opens quickly": a sentence of its own, and no value. */
function isClause(value: string): boolean {
  return /^(?:\p{L}[\p{L}\p{N}'’-]* ){1,6}(?:is|are|was|were|can|cannot|may|must|will|should|no longer|now \p{Ll}+s)\b/u.test(
    value,
  );
}

/**
 * Below "Deposit", "Children: $25" says whose. Below "Arrival", "Date: 4 July" says which. Below "Meals" it says
 * neither.
 */
function saidInSection({ key, value }: Pair, section: string): Said {
  if (isAttribute(section) && !isAttribute(key)) {
    const [measure, thing] = [lowerFirst(section), lowerFirst(key)];
    return {
      text: asSentence(`The ${measure} for ${thing} ${copulaOf(section)} ${value}`),
      told: { kind: 'attribute', key: measure, subject: thing, noun: null, moment: null, answer: value },
    };
  }
  if (isAttribute(key)) return said(key, copulaOf(section) === 'is' ? section : `the ${lowerFirst(section)}`, value);
  const [thing, moment] = [withArticle(key.includes(' ') ? lowerFirst(key) : key), momentOf(value)];
  const text = asSentence(`${capitalised(thing)} ${copulaOf(key)} ${moment ?? value}`);
  return {
    text,
    told: moment === null ? null : { kind: 'moment', subject: lowerFirst(thing), noun: null, answer: moment },
  };
}

/**
 * "Breakfast at 7:30" says when breakfast is. Anything else that is no sentence is said with the item it belongs to.
 */
function inSection(text: string, { section }: Place): Said | null {
  const [, what = '', when = ''] = event.exec(text) ?? [];
  if (what !== '' && !action.test(what) && !/ \p{Ll}+ed$/u.test(what)) {
    const told = { kind: 'moment', subject: lowerFirst(what), noun: null, answer: when } as const;
    return { text: asSentence(`${what} ${copulaOf(what)} ${when}`), told };
  }
  const news = newsIn(text);
  if (news !== null) return news;
  return section === null || sentence.test(text) ? null : asWritten(`${section}: ${text}`);
}

/** "The limit is now 250 MB (was 100 MB)", "Port moved from 8000 to 8443", "Korean translation by Min-ji Park". */
function newsIn(text: string): Said | null {
  const [, key, answer] = state.exec(text) ?? change.exec(text) ?? [];
  // "Doors are now open" names nothing that could be asked for.
  if (key !== undefined && answer !== undefined && /\p{N}/u.test(answer)) {
    const told = { kind: 'attribute', key: lowerFirst(key), subject: '', noun: null, moment: 'now', answer } as const;
    return { text: asSentence(text), told };
  }
  const [, work, person] = contribution.exec(text) ?? [];
  if (work === undefined || person === undefined) return null;
  const subject = `the ${lowerFirst(work)}`;
  const told = { kind: 'attribute', key: 'contributor', subject, noun: null, moment: null, answer: person } as const;
  return { text: asSentence(text), told };
}

const state = /^(?:The )?(\p{L}[\p{L} -]{2,40}?) (?:is|are) now ([^.!?;(]{1,60}?)(?: \([^()]*\))?\.?$/u;
const change =
  /^(?:The )?(\p{L}[\p{L} -]{2,40}?) (?:moved|raised|increased|reduced|lowered|cut|changed) from [^.!?;]{1,40} to ([^.!?;]{1,40})$/u;
/** Works that people make: "Payment by Bank Transfer" has no contributor. */
const contribution =
  /^(\p{Lu}[\p{L} -]{0,50}(?:translation|patch|fix|design|artwork|icons?|photos?|illustrations?|documentation|review)|(?:Translation|Patch|Fix|Design|Artwork|Icons?|Photos?|Illustrations?|Documentation|Review)) by (\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]*\.?){1,3})$/u;

const event = /^(\p{Lu}[\p{L} -]{1,40}) ((?:at|on|from|until) (?:\p{N}|\p{Lu}\p{Ll}+day).*[^.!?])$/u;
const action = /^(?:open|closed|free|meet|arrive|leave|start|begin|end|be|\p{L}+(?:ed|ing))\b/iu;
const sentence =
  /[.!?]$|\b(?:is|are|was|were|has|have|can|must|may|will|should|costs?|takes?|begins?|starts?|ends?)\b/u;

interface Pair {
  readonly key: string;
  readonly value: string;
}

/** A key of up to four words, and a value that is no sentence of its own. */
export function pairOf(text: string): Pair | null {
  const [, key, value] = /^(\p{L}[^:\n?!]{0,40}): +([^\n]{1,160})$/u.exec(text) ?? [];
  if (key === undefined || value === undefined) return null;
  const isKey = attribute.test(key) && !named.test(key) && !isPersonName(key);
  return isKey && !/[.?!] \p{Lu}/u.test(value) ? { key, value } : null;
}

/**
 * The subject of each line's key: for "Product: Tarn 3" and "Price: $249", the product. A new record begins where the
 * naming key occurs again. Every line gets `null` if none names a subject.
 */
export function subjectsOf(texts: readonly string[]): (string | null)[] {
  const pairs = texts.map(pairOf);
  const first = pairs.find((pair) => pair !== null && naming.test(pair.key)) ?? null;
  let subject = first?.value ?? null;
  return pairs.map((pair) => {
    if (pair !== null && pair.key === first?.key) subject = pair.value;
    return subject;
  });
}

const naming = /^(?:(?:full |product |item |project |company )?name|title|product|model|item|project|company|event)$/iu;

/**
 * One to four words, and an explanation in brackets. Only the first word may have a capital or be abbreviated. Days and
 * months are no attributes.
 */
const attribute = /^\p{L}[\p{L}-]*\.?(?: \p{Ll}[\p{Ll}-]*){0,3}(?: \([^()]{1,24}\))?$/u;
/** "Bill to: Hotel Almira" goes on behind the colon. */
const opensPhrase = / (?:to|by|from|for|with|at|of|in|on)$/u;
const named =
  /^(?:\p{Lu}\p{Ll}+day|January|February|March|April|May|June|July|August|September|October|November|December)s?\b/u;
