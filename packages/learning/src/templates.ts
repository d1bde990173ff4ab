/**
 * The usual ways of asking for a value, by what kind of value it is and what its sentence says: a length is asked for with
 * "How long is …?", a person after "designed" with "Who designed …?". Too many are made, and scoring keeps the wordings of a relation
 * only when the teacher answers most of them with the value.
 */
import { isFunctionWord } from './functionWords.js';
import type { Stretch } from './sentences.js';
import type { Span } from './spans.js';
import { ofMeetings } from './relations/meetings.js';
import { ofPeople } from './relations/people.js';
import { ofPlaces } from './relations/places.js';
import { ofProducts } from './relations/products.js';
import { unit, type Template } from './relations/relation.js';
import { ofRules } from './relations/rules.js';
import { ofUpdates } from './relations/updates.js';
import { ofValues } from './relations/values.js';

/** Questions for one relation; the teacher should answer all of them alike. */
export interface Relation {
  readonly name: string;
  readonly questions: readonly string[];
}

/** Tables of relations, and what a passage says that they are worth trying for. Of a person nobody asks from what age he is suitable. */
const tables: readonly { readonly rows: readonly Template[]; readonly isFor: (passage: string) => boolean }[] = [
  { rows: ofValues, isFor: () => true },
  { rows: ofPeople, isFor: (passage) => isAbout(passage, person, 3) },
  { rows: ofPlaces, isFor: () => true },
  { rows: ofProducts, isFor: (passage) => !isPortrait(passage) },
  { rows: ofRules, isFor: (passage) => !isPortrait(passage) && isAbout(passage, rule, 2) },
  { rows: ofUpdates, isFor: (passage) => !isPortrait(passage) && isAbout(passage, update, 2) },
  { rows: ofMeetings, isFor: (passage) => !isPortrait(passage) && isAbout(passage, meeting, 2) },
];

const person = /\b(?:he|she|his|her|him|born|married|retired)\b/giu;
const rule =
  /\b(?:must|may|can|cannot|allowed|permitted|forbidden|free|fees?|fines?|deposit|rules?|policy|notice|members?|staff|guests?|customers?|visitors?)\b/giu;
const update =
  /\b(?:updat\w+|upgrad\w+|versions?|release[sd]?|patch|firmware|bugs?|fix(?:e[sd])?|install\w*|download\w*|software|apps?|users|removed|added|new|now)\b/giu;
const meeting =
  /\b(?:meet(?:s|ing)?|met|committee|council|board|agreed|decided|voted|votes?|minutes|chair\w*|treasurer|reported|discussed|proposed|approved|postponed|budget|will)\b/giu;

function isAbout(passage: string, words: RegExp, times: number): boolean {
  return [...passage.matchAll(words)].length >= times;
}

/** Speaks of somebody all the time. */
function isPortrait(passage: string): boolean {
  return isAbout(passage, person, Math.max(4, passage.length / 150));
}

/** The relations that what a passage says may stand in. */
export function relationTable(passage: string): readonly Template[] {
  return tables.flatMap(({ rows, isFor }) => (isFor(passage) ? rows : []));
}

/** The relations that the span may stand in to each of `subjects`, such as "the Lume Lamp" or "the frame of the Lume Lamp". */
export function relationsOf(
  table: readonly Template[],
  sentence: Stretch,
  span: Span,
  subjects: readonly string[],
): Relation[] {
  const value = span.text.toLowerCase();
  const counted = unit.test(value)
    ? undefined
    : /^\S+(?: \p{Ll}+)? (\p{Ll}+s|people|men|women|children|staff)$/u.exec(value)?.[1];
  const fitting = table.filter(
    (template) =>
      template.kinds.includes(span.kind) &&
      (template.cue?.test(sentence.text) ?? true) &&
      (template.value?.test(value) ?? true) &&
      (counted !== undefined || !template.wordings.some((wording) => wording.includes('{N}'))),
  );
  const noun = appositionOf(sentence, span);
  return subjects.flatMap((subject) => [
    ...(noun === null ? [] : [{ name: `${noun} of ${subject}`, questions: namingQuestions(noun, subject) }]),
    ...fitting.map(({ name, wordings }) => ({
      name: `${name} of ${subject}`,
      questions: wordings.map((wording) => wording.replace('{X}', subject).replace('{N}', counted ?? '')),
    })),
  ]);
}

/** "the restaurant Blue Thimble", "a farm called Hollow Acre", "her teacher, Otto Brandt": what the name is the name of. */
function appositionOf(sentence: Stretch, span: Span): string | null {
  if (span.kind !== 'name' && span.kind !== 'quotation') return null;
  const before = sentence.text.slice(0, span.start - sentence.start);
  const noun =
    /\b(?:[Tt]he|[Aa]n?|[Hh]is|[Hh]er|[Ii]ts|[Tt]heir|[Oo]ur) (?:\p{Ll}+ )?(?!(?:called|named) )(\p{Ll}+)(?: called| named|,)? [“"]?$/u.exec(
      before,
    )?.[1];
  return noun === undefined || isFunctionWord(noun) ? null : noun;
}

function namingQuestions(noun: string, subject: string): string[] {
  return [
    `What is the ${noun} of ${subject} called?`,
    `What is the name of the ${noun} of ${subject}?`,
    `Which ${noun} does ${subject} have?`,
    `Who is the ${noun} of ${subject}?`,
  ];
}
