/**
 * Questions about prose in a document of headings, tables, lists or clauses. Such prose is about the document, whose
 * name people leave out, and about what a heading or a question above it says.
 */
import {
  containsWords,
  isFunctionWord,
  isPersonName,
  wordTokens,
  type TextRange,
  type Told,
} from '@engraft/learning/parts';
import { phonePattern } from '../spans/valuePatterns.js';
import { findSpans, type Span } from '../spans/spans.js';
import { protagonistOf, takeStatementApart } from '../spans/statement.js';
import { deriveQuestions, type Context } from './derive.js';
import { isKnownWord } from './spokenNames.js';
import { baseFormOf, presentOf, takeApart, participles } from '../english/verbs.js';

/** The surroundings of a sentence in a document. */
export interface Surroundings {
  /** The question above it. */
  readonly stated: string | null;
  /** The heading above it, unless that is the document's own. */
  readonly section: string | null;
  /** The name that the document's title has. */
  readonly title: string | null;
}

/** The names of titles and prose. Those of cells say nothing about what prose is about, except for one thing's. */
export function isAboutDocument(told: ReadonlyMap<string, Told>): (sentence: string) => boolean {
  const subjects = new Set(
    [...told.values()].map((each) =>
      each.kind === 'attribute' ? each.subject : each.kind === 'title' ? '' : each.answer,
    ),
  );
  subjects.delete('');
  return (sentence) => {
    const tells = told.get(sentence.trim());
    return tells === undefined || tells.kind === 'title' || (subjects.size === 1 && tells.kind === 'attribute');
  };
}

/**
 * The topics of a fact in words that people use: the noun that its sentence begins with, the topic of the question
 * above it, the heading above it, and the document.
 */
export function topicsOf(
  sentence: TextRange,
  span: Span,
  spans: readonly Span[],
  { stated, section, title }: Surroundings,
): string[] {
  const subject = takeStatementApart(sentence, spans, null)?.subject ?? null;
  const ofSubject =
    subject === null || subject.length > maxTopic ? [] : [subject.replace(/^(?:the|an?|our|my|your|this) /iu, '')];
  const topics = [...ofSubject, contentOf(stated ?? ''), contentOf(section ?? ''), title ?? ''];
  return [...new Set(topics)].filter((topic) => topic !== '' && !containsWords(topic, span.text));
}

const maxTopic = 60;
const maxTopicWords = 4;

/** "freeze membership" of "Can I freeze my membership?" */
function contentOf(text: string): string {
  const words = (text.match(/[\p{L}\p{N}][\p{L}\p{N}'’-]*/gu) ?? []).filter((word) => !isFunctionWord(word));
  return words.length > maxTopicWords
    ? ''
    : words.map((word, at) => (at === 0 && !isKept(word) ? word.toLowerCase() : word)).join(' ');
}

/** "USB" and "P5" keep their capitals. */
function isKept(word: string): boolean {
  return /^\p{Lu}[\p{Lu}\p{N}]/u.test(word);
}

/** Whether the question has a word of what the fact is about, beside the document's name. */
export function sharesWord(question: string, about: string, title: string | null): boolean {
  const named = new Set(wordTokens(title ?? ''));
  const content = (text: string): string[] =>
    wordTokens(text)
      .filter((word) => !isFunctionWord(word) && !named.has(word))
      .map(baseFormOf);
  const words = new Set(content(about));
  return content(question).some((word) => words.has(word));
}

/** "9" of "9 Willow Court" is no answer by itself; the year in "In 1998 Ada Kell" is. */
export function isHouseNumber({ kind, text, start, end }: Span, sentence: TextRange): boolean {
  const isNumber = kind !== 'date' && start >= sentence.start && /^\d{1,4}[a-z]?$/u.test(text);
  return isNumber && street.test(sentence.text.slice(end - sentence.start));
}

const street =
  /^ (?:\p{Lu}[\p{L}'’.-]* ){1,3}(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Court|Ct|Drive|Dr|Square|Sq|Place|Way|Close|Terrace|Crescent|Row|Walk|Boulevard|Blvd|Quay|Gardens|Mews|Alley|Grove|Embankment)(?!\p{L})/u;

/**
 * Whether a passage is a document of tables, lists, clauses, questions or several sections, rather than prose with a
 * heading.
 */
export function isDocument(passage: string, told: ReadonlyMap<string, Told>): boolean {
  const titles = [...told.values()].filter(({ kind }) => kind === 'title').length;
  // The first heading is the document's own, and two more make sections.
  return told.size > titles || titles > 2 || (titles > 0 && /^[^\n.]{1,80}\?\s*$/mu.test(passage));
}

/**
 * A document is about the thing that its title names. Prose in it names others in passing, unless there is nothing but
 * prose below its headings.
 */
export function protagonistOfDocument(
  passage: string,
  told: ReadonlyMap<string, Told>,
  names: readonly string[],
): string | null {
  const isProse = [...told.values()].every(({ kind }) => kind === 'title');
  return titleOf(passage, told) ?? (isProse ? protagonistOf(passage, names) : null);
}

/** The name in the first heading, with its article. */
export function titleOf(passage: string, told: ReadonlyMap<string, Told>): string | null {
  const [text] = [...told].find(([, { kind }]) => kind === 'title') ?? [];
  if (text === undefined || !passage.trimStart().startsWith(text)) return null;
  // "Help" and "Changelog" name nothing.
  if (text.includes(' ') && text.split(' ').length <= 5 && /^(?:[\p{Lu}\p{N}&]\S*(?: |$))+$/u.test(text)) return text;
  const spans = findSpans({ start: 0, end: text.length, text }, passage);
  const [name, ...others] = spans.filter(({ kind }) => kind === 'name' || kind === 'code').map((span) => span.text);
  if (others.length > 0 || name === undefined) return null;
  return text.includes(`the ${name}`) ? `the ${name}` : name;
}

/** People leave out what the document is about. So each question is made without it, too. */
export function inDocument(sentence: TextRange, span: Span, spans: readonly Span[], context: Context): string[] {
  const plain = { ...context, aliases: new Map<string, string>() };
  const made = [
    ...documentQuestions(sentence, span, spans, context.protagonist),
    ...deriveQuestions(sentence, span, spans, { ...plain, protagonist: null }),
    ...deriveQuestions(sentence, span, spans, plain),
  ];
  // Clauses are longer than the rules for sentences expect: "payable by of each month", "with ' notice".
  const isCut = /[,(]| ['’] |\b(?:by|at|in|on|for|with|and) (?:of|is|are)\b/u;
  const before = sentence.text.slice(0, span.start - sentence.start);
  const [, participle = ''] = /(\p{L}+) by (?:the )?$/u.exec(before) ?? [];
  // "Who is the café located by?"
  const isWrong = (question: string): boolean => statives.has(participle) && /^(?:Who|By whom)\b/u.test(question);
  return [...new Set(made)].filter((question) => !isCut.test(question) && !isWrong(question));
}

/** Questions of a document's own kinds of sentences, which `deriveQuestions` does not know. */
function documentQuestions(sentence: TextRange, span: Span, spans: readonly Span[], title: string | null): string[] {
  const before = sentence.text.slice(0, span.start - sentence.start);
  return [...phoneQuestions(before, span), ...makerQuestions(sentence, before, span, spans, title)];
}

/** "Call the parking office on (555) 014-2230." */
function phoneQuestions(before: string, span: Span): string[] {
  const whom =
    /\b(?:call|phone|ring|dial|reach|contact) ([^,;:.]{2,50}?) (?:on|at|under|by phone on|via)(?: the number)? $/iu.exec(
      before,
    )?.[1];
  if (whom === undefined || !phonePattern.test(span.text)) return [];
  return [
    `What is the phone number of ${whom}?`,
    isPersonName(whom) ? `Under which number is ${whom} reached?` : `Which number do I call for ${whom}?`,
    `What is the number of ${whom}?`,
    `On which number can I call ${whom}?`,
  ];
}

/** "Lost property is kept by Ada Kell." also says who keeps it; "Designed by Bo Lind." who designed the desk. */
function makerQuestions(
  sentence: TextRange,
  before: string,
  span: Span,
  spans: readonly Span[],
  title: string | null,
): string[] {
  if (span.kind !== 'name') return [];
  const [, being = '', participle = ''] = /(?:\b(is|are|was|were) |, |^\s*)(\p{L}+) by (?:the )?$/u.exec(before) ?? [];
  const forms = isMaker(span.text) ? activeOf(participle.toLowerCase()) : null;
  if (forms === null) return [];
  const what =
    being === '' ? reducedSubject(before, participle, title) : takeStatementApart(sentence, spans, null)?.subject;
  if (what === undefined || what === null) return [];
  const isPresent = being === 'is' || being === 'are';
  const passive = `${being === '' ? 'was' : being} ${what} ${participle.toLowerCase()}`;
  return [`Who ${isPresent ? forms.present : forms.past} ${what}?`, `By whom ${passive}?`, `Who ${passive} by?`];
}

/** "the command watch" of "New command watch, written by …", and the title of "Designed by …". */
function reducedSubject(before: string, participle: string, title: string | null): string | null {
  const start = before.slice(0, before.lastIndexOf(participle));
  if (start.trim() === '') return title;
  const [, isNew, noun = ''] = /^\s*(New:? )?(?:(?:an?|the) )?([^,.;:]{3,50}), $/iu.exec(start) ?? [];
  if (noun === '') return null;
  const plain =
    /^\p{Lu}\p{Ll}/u.test(noun) && isNew === undefined ? noun.charAt(0).toLowerCase() + noun.slice(1) : noun;
  return `the ${plain.replaceAll('`', '')}`;
}

interface Active {
  readonly present: string;
  readonly past: string;
}

/** People and organisations do things. "City Hall" does not, as its words tell. */
function isMaker(name: string): boolean {
  const words = name.split(' ');
  const isUnknown = words.length > 1 && words.length < 4 && !words.some((word) => isKnownWord(word.toLowerCase()));
  return isPersonName(name) || isUnknown || organisation.test(words.at(-1) ?? '');
}

const organisation =
  /^(?:Ltd|Inc|LLC|PLC|plc|GmbH|AG|SA|Co|Corp|Corporation|Company|Bros|Brothers|Sons|Partners|Associates|Group|Studios?|Team|Agency|Institute|University|College|Council|Committee|Ministry|Department|Society|Association|Foundation|Trust|Union|Press|Publishers|Records|Architects|Engineers|Industries|Systems|Technologies|Laboratories|Labs)\.?$/u;

/** They say where or how something is, and nobody does them. */
const statives = new Set(
  `accompanied based bordered bounded called connected crossed divided dominated encircled
  enclosed faced fed flanked followed framed hemmed hidden joined known lined linked located named overlooked placed
  positioned preceded reached separated set sheltered shaded situated surrounded titled topped`.split(/\s+/u),
);

/** "keeps" and "kept" of "kept". `null` for a word that is no participle, or says no action. */
function activeOf(participle: string): Active | null {
  if (statives.has(participle)) return null;
  const known = participles.get(participle);
  if (known !== undefined) return { present: presentOf(known.infinitive), past: known.past };
  const parts = participle.endsWith('ed') ? takeApart(participle) : null;
  return parts === null ? null : { present: presentOf(parts.infinitive), past: participle };
}
