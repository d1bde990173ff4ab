/** The clauses of a sentence, and what they leave out. */
import { capitalised, isPersonName, type TextRange } from '@engraft/learning/parts';
import { genderOf } from '../english/wordClasses.js';
import { mayBeIt, otherNames, personMeant } from '../spans/antecedents.js';
import type { Span } from '../spans/spans.js';
import { openingName, subjectName, takeStatementApart, type Aliases } from '../spans/statement.js';

const subjectAhead = '(?=(?:the|an?|our|my|his|her|its|their|it|he|she|they) )';
/**
 * "In 2022 " before "the company moved". After words such as "after" a whole clause may follow, so these need a comma,
 * or a single noun: "Before a race she eats".
 */
const circumstance = new RegExp(
  [
    `^(?:In|On|At|Since|During|Every|For|From) [^,]{1,40}?,? ${subjectAhead}`,
    `^(?:After|Before|Until) [^,]{1,40}, ${subjectAhead}`,
    '^(?:After|Before|Until) (?:(?:the|an?|each|every) )?\\p{Ll}+ (?=(?:it|he|she|they) )',
  ].join('|'),
  'u',
);

/** The references that earlier sentences established. */
export interface Context {
  /** The name that a pronoun most likely stands for. */
  readonly antecedent: string | null;
  readonly aliases: Aliases;
  /** The topic of the passage, see `protagonistOf`. */
  readonly protagonist: string | null;
}

export interface Clause {
  readonly sentence: TextRange;
  readonly spans: readonly Span[];
  readonly antecedent: string | null;
}

/** The clause with the span, if it says something by itself: "Ada runs the mill, and Bo Lind runs the shop." */
export function clauseOf(whole: TextRange, span: Span, spans: readonly Span[], context: Context): Clause | null {
  const starts = clauseStarts(whole).reverse();
  for (const { start } of starts.filter((each) => whole.start + each.start <= span.start)) {
    const clause = clauseFrom(whole, start, spans, context);
    if (clause !== null) return clause;
  }
  return null;
}

/** The part of the sentence that says something about the span by itself. The whole if there is but one. */
export function partWith(whole: TextRange, span: Span, spans: readonly Span[], context: Context): TextRange {
  const parts = clauseStarts(whole).filter(({ start }) => clauseFrom(whole, start, spans, context) !== null);
  const from = parts.findLast(({ start }) => whole.start + start <= span.start)?.start ?? 0;
  const to = parts.find(({ start }) => whole.start + start > span.start)?.end ?? whole.text.length;
  return { start: whole.start + from, end: whole.start + to, text: whole.text.slice(from, to) };
}

/** Where a clause may begin, and where the one before it ends. */
function clauseStarts({ text }: TextRange): { readonly start: number; readonly end: number }[] {
  return [...text.matchAll(clauseLink)].map(({ 0: link, index }) => ({ start: index + link.length, end: index }));
}

const clauseLink =
  /(?:; (?:and |but )?|, (?:and|but|while|whereas|so) (?:(?:there|then|later) (?=(?:the|an?|it|he|she|they|his|her|its|their) ))?| and (?:(?:there|then|later) )?(?=(?:it|he|she|they) )| and (?=(?:an?|the) [\p{Ll}-]+ (?:is|costs) (?:[$€£]?\d)))/gu;

function clauseFrom(whole: TextRange, start: number, spans: readonly Span[], context: Context): Clause | null {
  const sentence = withoutOpening(whole, start);
  const own = spans.filter((other) => other.start >= sentence.start);
  // A name that opens a sentence.
  const opens = ({ start: at }: Span): boolean => /^(?:The )?$/u.test(sentence.text.slice(0, at - sentence.start));
  const opened = own.map((other) => (opens(other) ? { ...other, isSubject: true } : other));
  const subject = meantByClause(sentence, whole, spans, context);
  // It says something by itself even if nothing tells of whom. Then nothing is asked, rather than of somebody else.
  return takeStatementApart(withoutCircumstance(sentence), opened, subject ?? 'somebody') === null
    ? null
    : { sentence, spans: opened, antecedent: subject };
}

/** The referent of a pronoun that begins a clause: the sentence's subject, or what its own pronoun stands for. */
function meantByClause(
  clause: TextRange,
  whole: TextRange,
  spans: readonly Span[],
  { antecedent, protagonist }: Context,
): string | null {
  const opening = openingName(spans);
  const subject = opening === undefined ? antecedent : subjectName(whole, spans);
  const others = (): string[] => {
    const earlier = spans.filter(({ end }) => end <= clause.start);
    return otherNames(whole, earlier, subject);
  };
  const wanted = pronounOpening(clause);
  const before = opening === undefined ? pronounOpening(whole) : null;
  if (wanted !== null && before !== null) {
    // "She married Otto Brandt in 1950, and he died in 1970."
    return wanted === before ? antecedent : onlyOne(others(), wanted);
  }
  if (wanted !== 'it') return personMeant(withoutCircumstance(clause).text, { subject, others: others(), protagonist });
  if (opening !== undefined) return mayBeIt(opening.text, whole.text.slice(opening.end - whole.start)) ? subject : null;
  return subject !== null && isPersonName(subject) ? null : subject;
}

/** The only one of the names that "he" or "she" surely fits. */
function onlyOne(names: readonly string[], pronoun: Pronoun): string | null {
  const fitting = [...new Set(names)].filter((name) => genderOf(name) === genderOfPronoun[pronoun]);
  return fitting.length === 1 ? (fitting[0] ?? null) : null;
}

type Pronoun = 'he' | 'she' | 'it' | 'they';
const pronouns = new Map<string, Pronoun>([
  ['he', 'he'],
  ['his', 'he'],
  ['she', 'she'],
  ['her', 'she'],
  ['it', 'it'],
  ['its', 'it'],
  ['they', 'they'],
  ['their', 'they'],
]);
const genderOfPronoun: Readonly<Record<Pronoun, ReturnType<typeof genderOf> | undefined>> = {
  he: 'male',
  she: 'female',
  it: undefined,
  they: undefined,
};

/** The pronoun at the start of a sentence or clause, after its circumstance. */
function pronounOpening(range: TextRange): Pronoun | null {
  const word = /^\s*(\p{L}+)/u.exec(withoutCircumstance(range).text)?.[1] ?? '';
  return pronouns.get(word.toLowerCase()) ?? null;
}

/** "In 2022 the company moved …" becomes "The company moved …". */
export function withoutCircumstance(sentence: TextRange): TextRange {
  const aside = circumstance.exec(sentence.text)?.[0] ?? '';
  return aside === '' ? sentence : withoutOpening(sentence, aside.length);
}

/** "In 2022 " at the start of the sentence, and at the start of the clause with the span. */
export function circumstancesBefore(whole: TextRange, span: Span): string {
  const clause = clauseStarts(whole).findLast(({ start }) => whole.start + start <= span.start);
  const parts = clause === undefined ? [whole] : [whole, withoutOpening(whole, clause.start)];
  const openings = parts.map((part) => part.text.slice(0, withoutCircumstance(part).start - part.start));
  return openings.join(' ').trim();
}

function withoutOpening(sentence: TextRange, length: number): TextRange {
  return {
    start: sentence.start + length,
    end: sentence.end,
    text: capitalised(sentence.text.slice(length)),
  };
}
