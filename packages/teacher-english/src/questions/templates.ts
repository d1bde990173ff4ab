/**
 * The usual ways of asking for a value, by what kind of value it is and what its sentence says: a length is asked for
 * with "How long is …?", a person after "designed" with "Who designed …?". Too many are made, and scoring keeps the
 * wordings of a relation only when the teacher answers most of them with the value.
 */
import { isFunctionWord, type Stretch } from '@engraft/learning/parts';
import type { Span } from '../spans/spans.js';
import { ofMeetings } from './relations/meetings.js';
import { ofPeople } from './relations/people.js';
import { ofPlaces } from './relations/places.js';
import { ofProducts } from './relations/products.js';
import { type Template } from './relations/relation.js';
import { ofRules } from './relations/rules.js';
import { ofUpdates } from './relations/updates.js';
import { ofValues } from './relations/values.js';
import { unit } from '../english/units.js';

/** Questions for one relation; the teacher should answer all of them alike. */
export interface Relation {
  readonly name: string;
  readonly questions: readonly string[];
}

interface Table {
  readonly rows: readonly Template[];
  /** The table is worth trying for a passage that has these words at least `times` times. */
  readonly words: RegExp;
  readonly times: number;
  /** Whether the questions suit a person: nobody asks from what age somebody is suitable. */
  readonly ofSomebody: boolean;
}

const person =
  /\b(?:[Hh]e|[Ss]he|[Hh]is|[Hh]er|him|[Ii]|my|born|married|retired|studied|wife|husband|sons?|daughters?|father|mother|brothers?|sisters?)\b/gu;
const rule =
  /\b(?:must|may|can|cannot|shall|should|allowed|permitted|forbidden|prohibited|required|limited|free|fees?|fines?|deposit|rules?|policy|notice|late|lent|borrow\w*|members?|staff|guests?|customers?|visitors?)\b/gu;
const update =
  /\b(?:[Uu]pdat\w+|[Uu]pgrad\w+|[Vv]ersions?|[Rr]elease[sd]?|[Pp]atch|[Ff]irmware|bugs?|fix(?:e[sd])?|install\w*|download\w*|[Ss]oftware|apps?|users|support|features?|replac\w+|brings|removed|added|new|now|no longer)\b/gu;
const meeting =
  /\b(?:[Mm]eet(?:s|ing)?|met|[Cc]ommittee|[Cc]ouncil|[Bb]oard|[Aa]ssembly|session|motion|secretary|agreed|decided|decision|voted|votes?|[Mm]inutes|chair\w*|treasurer|reported|asked|talked|discussed|proposed|approved|postponed|adjourned|resolved|budget|will)\b/gu;

const tables: readonly Table[] = [
  { rows: ofValues, words: /^/u, times: 0, ofSomebody: true },
  { rows: ofPlaces, words: /^/u, times: 0, ofSomebody: true },
  { rows: ofPeople, words: person, times: 3, ofSomebody: true },
  { rows: ofProducts, words: /^/u, times: 0, ofSomebody: false },
  { rows: ofRules, words: rule, times: 2, ofSomebody: false },
  { rows: ofUpdates, words: update, times: 2, ofSomebody: false },
  { rows: ofMeetings, words: meeting, times: 2, ofSomebody: false },
];

/**
 * The relations that what a passage says may stand in, by its words; one that speaks of somebody all the time must have
 * more of them than of him.
 */
export function relationTable(passage: string): readonly Template[] {
  const count = (words: RegExp): number => passage.match(words)?.length ?? 0;
  const persons = count(person);
  const isPortrait = persons >= Math.max(4, passage.length / 150);
  const fitting = tables.filter(({ words, times, ofSomebody }) => {
    const found = count(words);
    return found >= times && (ofSomebody || !isPortrait || found > persons);
  });
  return fitting.flatMap(({ rows }) => rows);
}

/** The templates of a table that the sentence has a word for: found once, however much is asked of it. */
export function cuedIn(table: readonly Template[], { text }: Stretch): readonly Template[] {
  return table.filter(({ cue }) => cue?.test(text) ?? true);
}

/**
 * The relations, of those that `cuedIn` found, that the span may stand in to each of `subjects`, such as "the Lume
 * Lamp" or "the frame of the Lume Lamp".
 */
export function relationsOf(
  cued: readonly Template[],
  sentence: Stretch,
  span: Span,
  subjects: readonly string[],
): Relation[] {
  const value = span.text.toLowerCase();
  const counted = unit.test(value)
    ? undefined
    : /^\S+(?: \p{Ll}+)? (\p{Ll}+s|people|men|women|children|staff)$/u.exec(value)?.[1];
  const fitting = cued.filter(
    (template) =>
      template.kinds.includes(span.kind) &&
      (template.value?.test(value) ?? true) &&
      (counted !== undefined || !template.wordings.some((wording) => wording.includes('{N}'))),
  );
  const noun = appositionOf(sentence, span);
  return subjects.flatMap((subject) => [
    ...(noun === null ? [] : [{ name: `${noun} of ${subject}`, questions: namingQuestions(noun, subject) }]),
    ...fitting.map(({ name, wordings }) => ({
      name: `${name} of ${subject}`,
      questions: wordings.map((wording) => wording.replace('{X}', () => subject).replace('{N}', counted ?? '')),
    })),
  ]);
}

/**
 * "the restaurant Blue Thimble", "a farm called Hollow Acre", "her teacher, Otto Brandt": what the name is the name of.
 */
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
