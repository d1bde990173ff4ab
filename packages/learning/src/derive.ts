/**
 * Questions made from a sentence by rule: "The Lume Lamp weighs 1.2 kilograms." gives "What does the Lume Lamp weigh?".
 * Too many are made, some of them clumsy or wrong, and scoring keeps those that the teacher answers as expected
 * (overgenerate and rank: Heilman and Smith, NAACL 2010). They help where a small model asks poorly.
 */
import type { Stretch } from './sentences.js';
import type { Span } from './spans.js';
import { irregularPasts, takeApart } from './verbs.js';

const auxiliaries = 'is|are|was|were|can|could|will|would|must|may|might|should';
const auxiliary = new RegExp(`^(?:${auxiliaries})$`, 'u');
const determiner = '(?:The|A|An|Our|My|His|Her|Its|Their|Every|Each|This|That)';
const finiteVerb = `(?:\\p{Ll}+(?:s|ed)|${Object.keys(irregularPasts).join('|')})`;
const afterVerb =
  '(?:\\p{N}|\\p{Lu}|[$€£]|(?:an?|the|in|on|at|by|of|for|from|to|with|about|one|two|three|four|five|six|seven|eight|nine|ten) )';
/** "The captain of the Grey Heron" before "is", "The battery" before "lasts 12 …", "Holiday requests" before "must". */
const commonSubject = new RegExp(
  `^(?:${determiner} [^,;:]{1,60}?(?= (?:${auxiliaries}) )|${determiner} [^,;:]{1,60}?(?= ${finiteVerb} ${afterVerb})|\\p{Lu}\\p{Ll}+(?: \\p{Ll}+){0,3}?(?= (?:${auxiliaries}) ))`,
  'u',
);

/** A sentence taken apart: its subject, without pronouns where they could be resolved, and what is said of it. */
interface Statement {
  readonly subject: string;
  /** Where the predicate begins, in UTF-16 units from the sentence's start. */
  readonly predicateStart: number;
}

/** What "it" or "she" at the start of a sentence most likely stands for: the subject of an earlier one. */
export function subjectName(sentence: Stretch, spans: readonly Span[]): string | null {
  const name = spans.find((span) => span.kind === 'name' && span.tier === 2);
  if (name === undefined) return null;
  const article = /^\s*(The) $/u.exec(sentence.text.slice(0, name.start - sentence.start))?.[1];
  return article === undefined ? name.text : `the ${name.text}`;
}

/** Questions whose answer is `span`; none when the sentence is of no kind known here. */
export function deriveQuestions(
  sentence: Stretch,
  span: Span,
  spans: readonly Span[],
  antecedent: string | null,
): string[] {
  const text = sentence.text.trimEnd().replace(/[.!]+$/u, '');
  const from = span.start - sentence.start;
  const statement = takeStatementApart(sentence, spans, antecedent);
  if (statement === null) return [];
  if (from < statement.predicateStart)
    return isWholeSubject(text, from, span, statement) ? subjectQuestions(text, span, statement) : [];
  const before = ownPredicate(text.slice(statement.predicateStart, from).trim());
  if (/(?:^|\s)(?:and|or)$|[,;:]$/u.test(before)) return [];
  const after = (/^[^,;]*?(?= and |,|;|$)/u.exec(text.slice(from + span.text.length))?.[0] ?? '').trim();
  // Without what else the sentence says, the question is shorter and asks for one fact: "built in 1994 in" → "built in".
  const others = spans.filter((other) => other.start !== span.start).map((other) => escapeForPattern(other.text));
  const asides = new RegExp(` (?:in|on|at|by|under|since) (?:${others.join('|')})(?= |$)`, 'gu');
  const short = others.length === 0 ? before : before.replace(asides, '');
  const shortAfter = /^(?:in|on|at|by|under|since|every|from|with)\b/u.test(after) ? '' : after;
  const questions = [
    ...objectQuestions(statement.subject, short, span, shortAfter),
    ...objectQuestions(statement.subject, before, span, after),
  ];
  return [...new Set(questions.map(tidy))];
}

function escapeForPattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/gu, '\\$&');
}

function takeStatementApart(sentence: Stretch, spans: readonly Span[], antecedent: string | null): Statement | null {
  const { text } = sentence;
  const pronoun = /^(?:(It|He|She|They)|(Its|His|Her|Their) [^,;:]{1,40}?) (?=\p{Ll})/u.exec(text);
  if (pronoun?.[1] !== undefined) {
    return antecedent === null ? null : { subject: antecedent, predicateStart: pronoun[0].length };
  }
  const name = subjectName(sentence, spans);
  const nameEnd = (spans.find((span) => span.kind === 'name' && span.tier === 2)?.end ?? 0) - sentence.start;
  if (name !== null && /^ (?:\p{Ll}+(?:s|ed)|was|were|are) /u.test(text.slice(nameEnd))) {
    return { subject: name, predicateStart: nameEnd + 1 };
  }
  const common = commonSubject.exec(text)?.[0];
  if (common === undefined) {
    return name !== null && /^ \p{Ll}/u.test(text.slice(nameEnd))
      ? { subject: name, predicateStart: nameEnd + 1 }
      : null;
  }
  const possessive = /^(?:Its|His|Her|Their) /u;
  if (possessive.test(common) && antecedent === null) return null;
  const subject = possessive.test(common)
    ? common.replace(possessive, `${antecedent ?? ''}'s `)
    : common.charAt(0).toLowerCase() + common.slice(1);
  return { subject, predicateStart: common.length + 1 };
}

function isWholeSubject(text: string, from: number, span: Span, { predicateStart }: Statement): boolean {
  return from + span.text.length + 1 === predicateStart && /^(?:\p{L}+ )?$/u.test(text.slice(0, from));
}

/** "Who designed the Lume Lamp?": no change of word order. */
function subjectQuestions(text: string, span: Span, { predicateStart }: Statement): string[] {
  const predicate = /^[^,;]+/u.exec(text.slice(predicateStart))?.[0] ?? '';
  return span.kind === 'name' ? [`Who ${predicate}?`, `What ${predicate}?`] : [`What ${predicate}?`];
}

/** Of "weighs 1.2 kilograms and costs", what belongs to the last verb. */
function ownPredicate(before: string): string {
  const parts = before.split(/ and (?=(?:is|are|was|were|has|had)\b|\p{Ll}+(?:s|ed)\b)/u);
  return parts.at(-1) ?? before;
}

function objectQuestions(subject: string, before: string, span: Span, after: string): string[] {
  const [verb = '', ...rest] = before.split(/\s+/u);
  const words = rest.join(' ').replace(/(?:^| )(?:an?|the|about|around|nearly|over)$/iu, '');
  const asked = questionWords(words, span, after);
  if (auxiliary.test(verb)) return asked.map(({ word, rest: tail }) => `${word} ${verb} ${subject} ${tail}?`);
  const parts = takeApart(verb);
  if (parts === null) return [];
  return asked.map(({ word, rest: tail }) => `${word} ${parts.auxiliary} ${subject} ${parts.infinitive} ${tail}?`);
}

interface Asked {
  readonly word: string;
  /** The predicate without its verb and without the answer. */
  readonly rest: string;
}

/** The question words for a kind of answer; a preposition goes with its question word or stays behind, as English has it. */
function questionWords(words: string, span: Span, after: string): Asked[] {
  const preposition = /(?:^| )(in|on|at|by|since|for|from|near|to|with|of|under)$/u.exec(words)?.[1] ?? '';
  const withoutPreposition = words.slice(0, words.length - preposition.length).trim();
  const stranded = `${words} ${after}`;
  const dropped = `${withoutPreposition} ${after}`;
  switch (span.kind) {
    case 'date':
      return [
        { word: 'When', rest: dropped },
        ...(/\d{4}$/u.test(span.text) ? [{ word: 'In what year', rest: dropped }] : []),
      ];
    case 'time':
      return [
        { word: 'When', rest: dropped },
        { word: 'At what time', rest: dropped },
      ];
    case 'money':
      return [{ word: 'How much', rest: stranded }];
    case 'quantity':
      return quantityWords(span, stranded, after);
    case 'name':
      if (preposition === 'by')
        return [
          { word: 'By whom', rest: dropped },
          { word: 'Who', rest: stranded },
        ];
      if (/\b(?:called|named)$/u.test(words)) return [{ word: 'What', rest: stranded }];
      if (/^(?:in|on|at)$/u.test(preposition))
        return [
          { word: 'Where', rest: dropped },
          { word: 'What', rest: stranded },
        ];
      return [
        { word: 'Who', rest: stranded },
        { word: 'What', rest: stranded },
      ];
    default:
      return [{ word: 'What', rest: stranded }];
  }
}

/** "62 metres long": how long; "340 pupils": how many pupils; what otherwise. */
function quantityWords(span: Span, stranded: string, after: string): Asked[] {
  const adjective = /^(?:long|tall|high|wide|deep|old|thick|large|big|away)\b/u.exec(after)?.[0];
  if (adjective !== undefined) return [{ word: `How ${adjective === 'away' ? 'far' : adjective}`, rest: '' }];
  const unit = /(?:^|[ -])(\p{Ll}+)$/u.exec(span.text)?.[1] ?? '';
  if (/^(?:dollars?|euros?|pounds?|cents?|crowns?|francs?|yen|rupees?)$/u.test(unit))
    return [{ word: 'How much', rest: stranded }];
  const counted = /(?:s|people|men|women|children|sheep|fish)$/u.test(unit);
  return [...(counted ? [{ word: `How many ${unit}`, rest: stranded }] : []), { word: 'What', rest: stranded }];
}

function tidy(question: string): string {
  return question.replace(/[“”"]/gu, '').replace(/\s+/gu, ' ').replace(/ \?$/u, '?');
}
