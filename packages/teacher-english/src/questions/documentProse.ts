/**
 * Questions about prose in a document of headings, tables, lists or clauses. Such prose is about the document, whose
 * name people leave out, and about what a heading or a question above it says.
 */
import { containsWords, isFunctionWord, wordTokens, type TextRange, type Told } from '@engraft/learning/parts';
import { rules } from '../rules.js';
import { findSpans, type Span } from '../spans/spans.js';
import { protagonistOf, takeStatementApart } from '../spans/statement.js';
import { deriveQuestions } from './derive.js';
import { withoutCircumstance, type Context } from './clauses.js';
import { documentQuestions } from './documentQuestions.js';
import { isAskingWord } from './askingWords.js';
import { otherWordings, ruleWordings, shorterWordings } from './documentWordings.js';
import { statives } from './makerQuestions.js';
import { baseFormOf } from '../english/verbs.js';

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

/**
 * Whether a person who wants to know about it could ask so: the question has a word of what the fact is about, beside
 * the document's name, and no word that neither that nor questions in general have. "At what price did the ring fall
 * for auction?" asks about no hire of machines.
 */
export function isOfItsWords(question: string, about: string, title: string | null): boolean {
  const named = new Set(wordTokens(title ?? ''));
  const content = (text: string): string[] =>
    wordTokens(text)
      .filter((word) => !isFunctionWord(word) && !named.has(word))
      .map(baseFormOf);
  const own = new Set(content(about));
  const asked = content(question);
  return asked.some((word) => own.has(word)) && asked.every((word) => own.has(word) || isAskingWord(word));
}

/** "9 Willow Court" is one name in a document. */
export function withAddresses(spans: readonly Span[], sentence: TextRange): Span[] {
  return spans.flatMap((span, at): Span[] => {
    const [before, after] = [spans[at - 1], spans[at + 1]];
    if (before?.end === span.start - 1 && isHouseNumber(before, sentence)) return [];
    if (after?.start !== span.end + 1 || !isHouseNumber(span, sentence)) return [span];
    return [{ ...span, kind: 'name', end: after.end, text: `${span.text} ${after.text}` }];
  });
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

/**
 * "NOTICE TO PASSENGERS" says what kind of text follows, and names nothing, unless the text goes on with that name.
 */
export function isShoutedTitle(sentence: string, passage: string): boolean {
  const title = sentence.trim();
  if (!/\p{L}\P{L}+\p{L}{2}/u.test(title) || /\p{Ll}|[.!?]$/u.test(title)) return false;
  return passage.toLowerCase().split(title.toLowerCase()).length === 2;
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

/**
 * People leave out what the document is about. So each question is made without it, too, and in other usual wordings.
 * `stated` is the question above the sentence.
 */
export function inDocument(
  sentence: TextRange,
  span: Span,
  spans: readonly Span[],
  context: Context,
  stated: string | null,
): string[] {
  const plain = { ...context, aliases: new Map<string, string>() };
  const made = [
    ...documentQuestions(sentence, span, spans, plain, stated),
    ...deriveQuestions(sentence, span, spans, { ...plain, protagonist: null }),
    ...deriveQuestions(sentence, span, spans, plain),
  ];
  // Clauses are longer than the rules for sentences expect: "payable by of each month", "with ' notice".
  const isCut = /[,(]| ['’] |\b(?:by|at|in|on|for|with|and) (?:of|is|are)\b/u;
  const before = sentence.text.slice(0, span.start - sentence.start);
  const [, participle = ''] = /(\p{L}+) by (?:the )?$/u.exec(before) ?? [];
  // "Who is the café located by?"
  const isWrong = (question: string): boolean => statives.has(participle) && /^(?:Who|By whom)\b/u.test(question);
  const right = [...new Set(made)].filter((question) => !isCut.test(question) && !isWrong(question));
  const others = right.slice(0, rules.rewordedPerFact).map((question) => rewordings(question, span));
  return withCircumstance(sentence, span, [...new Set(inTurn([right, ...others]))]);
}

/** Also wordings of wordings, such as "How quickly must damage be reported?" Short ones are the most usual. */
function rewordings(question: string, span: Span): string[] {
  const once = [question, ...otherWordings(question, span)];
  const ruled = [...once, ...once.flatMap(ruleWordings)];
  const all = new Set([...ruled, ...ruled.flatMap(shorterWordings)]);
  return [...all].sort((a, b) => a.length - b.length);
}

/** The first of each list, the second of each, and so on. */
function inTurn(lists: readonly (readonly string[])[]): string[] {
  const longest = Math.max(...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}

/** "On Sundays the line runs every hour." is also asked about with "on Sundays". */
function withCircumstance(sentence: TextRange, span: Span, questions: readonly string[]): string[] {
  const length = withoutCircumstance(sentence).start - sentence.start;
  const when = sentence.text.slice(0, length).replace(/,? *$/u, '');
  if (when === '' || when.includes(',') || span.start < sentence.start + length) return [...questions];
  const ending = when.charAt(0).toLowerCase() + when.slice(1);
  return questions.flatMap((question, index) =>
    index < rules.rewordedPerFact ? [question, question.replace(/\?$/u, ` ${ending}?`)] : [question],
  );
}
