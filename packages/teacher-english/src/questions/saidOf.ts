/**
 * The person of whom a sentence says something. "Luis died in 1999" tells nothing of his sister, whose life the passage
 * is, and "Ada Kell succeeded Bo Lind, who retired in 2019" tells nothing of Ada Kell.
 */
import { containsWords, isPersonName, type TextRange } from '@engraft/learning/parts';
import { genderOf } from '../english/wordClasses.js';
import { isSurelyPerson } from '../spans/antecedents.js';
import { openingName } from '../spans/statement.js';
import type { Span } from '../spans/spans.js';
import { clauseOf, type Context } from './clauses.js';

/** Whether a question for a value may name somebody or something. */
export type IsMeant = (name: string) => boolean;

const relative = /, (who|which|whose) [^,;:]*$/u;

/** A relative clause, and the name that it belongs to, with its article. */
export interface RelativeClause {
  readonly head: string;
  readonly isOfPerson: boolean;
  readonly clause: TextRange;
}

/**
 * The relative clause with the value: of "Bo Lind" for 2019 above. `null` after "The coach is Bo Lind, who …", which is
 * about the coach.
 */
export function relativeWith({ start, text }: TextRange, span: Span, spans: readonly Span[]): RelativeClause | null {
  const found = relative.exec(text.slice(0, span.start - start));
  if (found === null) return null;
  const at = found.index;
  const head = spans.find(({ kind, end }) => kind === 'name' && end === start + at);
  const before = head === undefined ? '' : text.slice(0, head.start - start);
  if (head === undefined || /\b(?:is|was) (?:the |an? )?$/u.test(before)) return null;
  const rest = /^[^,;:]*/u.exec(text.slice(span.end - start))?.[0] ?? '';
  const end = span.end + rest.length;
  return {
    head: /\b[Tt]he $/u.test(before) ? `the ${head.text}` : head.text,
    isOfPerson: found[1] === 'who',
    clause: { start: start + at, end, text: text.slice(at, end - start) },
  };
}

/** Values that belong to the head of a relative clause and to nothing else. */
const ownValues: ReadonlySet<Span['kind']> = new Set(['date', 'quantity', 'money']);
/** "Otto Brandt taught her to paint in 1990" speaks of both. */
const speaksOfBoth = /\b(?:him|her(?! \p{Ll}+ (?:in|at|on|of)\b))\b/u;

/** Anybody for most values, and otherwise no person but the one of whom the sentence speaks. Things may be named. */
export function isMeantFor(whole: TextRange, span: Span, all: readonly Span[], context: Context): IsMeant {
  const inRelative = relativeWith(whole, span, all);
  const { sentence, spans, antecedent } = clauseOf(whole, span, all, context) ?? {
    sentence: whole,
    spans: all,
    antecedent: context.antecedent,
  };
  const before = sentence.text.slice(0, Math.max(0, span.start - sentence.start));
  const said = inRelative === null ? before : inRelative.clause.text.slice(0, span.start - inRelative.clause.start);
  if (speaksOfBoth.test(said)) return () => true;
  if (inRelative !== null) {
    const { head, isOfPerson } = inRelative;
    const isOwn = !isOfPerson || ownValues.has(span.kind);
    return (name) => isSame(name, head) || (!isOwn && !isPerson(name));
  }
  if (/^\s*Its?\b/u.test(sentence.text)) return (name) => !isSurelyPerson(name) || isNamed(before, name);
  const person = personOf({ sentence, spans, antecedent, before }, context.protagonist);
  if (person === null) return () => true;
  return (name) =>
    !isPerson(name) || /['’]s /u.test(name) || (person !== '' && isSame(name, person)) || isNamed(before, name);
}

interface Clause {
  readonly sentence: TextRange;
  readonly spans: readonly Span[];
  readonly antecedent: string | null;
  /** Its text before the value. */
  readonly before: string;
}

const kin =
  'husband|wife|partner|mother|father|parents|brother|sister|son|daughter|uncle|aunt|grandfather|grandmother|cousin|' +
  'nephew|niece|teacher|pupil|friend|successor|predecessor|colleague';
/** "Her teacher, Otto Brandt, " and "His sister ". */
const ofKin = new RegExp(
  `^(?:His|Her|Their|My|Our) (?:\\p{Ll}+ )?(?:(?:${kin})(?=,? )|\\p{Ll}+(?=, \\p{Lu}))` +
    "(?:,? (\\p{Lu}[\\p{L}'’-]+(?: \\p{Lu}[\\p{L}'’-]+)*))?",
  'u',
);

/** Another person than the protagonist, of whom the clause speaks. Empty if it is unknown which; `null` if nobody. */
function personOf({ sentence, spans, antecedent, before }: Clause, protagonist: string | null): string | null {
  const kinsman = ofKin.exec(before);
  // The value may be the kinsman's own name.
  if (kinsman !== null) return /^,? $/u.test(before.slice(kinsman[0].length)) ? null : (kinsman[1] ?? '');
  const isOther = (name: string): boolean => protagonist === null || !isSame(name, protagonist);
  const pronoun = /^\s*(He|She|His|Her)\b/u.exec(sentence.text)?.[1];
  if (pronoun !== undefined) {
    const gender = protagonist === null ? null : genderOf(protagonist);
    const wanted = /^(?:He|His)$/u.test(pronoun) ? 'male' : 'female';
    if (antecedent === null) return gender === null || gender === wanted ? null : '';
    return isOther(antecedent) ? antecedent : null;
  }
  const opening = openingName(spans);
  if (opening === undefined || opening.end > sentence.start + before.length) return null;
  return isPerson(opening.text) && isOther(opening.text) ? opening.text : null;
}

function isPerson(name: string): boolean {
  return isPersonName(name) || genderOf(name) !== null;
}

/** One of the two may be a part of the other, as "Kell" is of "Ada Kell". */
function isSame(one: string, other: string): boolean {
  return containsWords(one, other) || containsWords(other, one);
}

function isNamed(text: string, name: string): boolean {
  return containsWords(text, /\S+$/u.exec(name)?.[0] ?? name);
}
