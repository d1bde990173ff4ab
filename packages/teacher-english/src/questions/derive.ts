/**
 * Makes questions from a sentence by rule: "The Lume Lamp weighs 1.2 kilograms." gives "What does the Lume Lamp
 * weigh?". It makes too many, some of them clumsy or wrong, and scoring keeps those that the teacher answers as
 * expected (overgenerate and rank: Heilman and Smith, NAACL 2010). They help if a small model asks poorly.
 */
import { placeWords, questionWords } from './askingWords.js';
import { escapeForPattern, type TextRange } from '@engraft/learning/parts';
import type { Span } from '../spans/spans.js';
import { auxiliaries, qualified, takeStatementApart, withoutAliases, type Statement } from '../spans/statement.js';
import { clauseOf, withoutCircumstance, type Context } from './clauses.js';
import { takeApart } from '../english/verbs.js';

const auxiliary = new RegExp(`^(?:${auxiliaries})$`, 'u');

/** Questions whose answer is `span`. Empty for an unknown kind of sentence. */
export function deriveQuestions(sentence: TextRange, span: Span, spans: readonly Span[], context: Context): string[] {
  const clause = clauseOf(sentence, span, spans, context);
  if (clause === null) return questionsOf(sentence, span, spans, context);
  return questionsOf(clause.sentence, span, clause.spans, { ...context, antecedent: clause.antecedent });
}

function questionsOf(whole: TextRange, span: Span, spans: readonly Span[], context: Context): string[] {
  const sentence = withoutCircumstance(whole);
  const aside = whole.text.slice(0, sentence.start - whole.start);
  const apart = takeStatementApart(sentence, spans, context.antecedent);
  if (apart === null) return [];
  const statement = { ...apart, subject: qualified(apart.subject, context.protagonist, context.aliases) };
  const text = sentence.text.trimEnd().replace(/[.!]+$/u, '');
  const from = span.start - sentence.start;
  const { subject, predicateStart } = statement;
  const others = spans.filter((other) => other.start !== span.start).map((other) => escapeForPattern(other.text));
  const finish = (questions: readonly string[]): string[] => [
    ...new Set(
      questions
        // "Who was the mill built not by but by?" asks nothing.
        .filter((question) => !/\b(?:not|never|no longer)\b.* but\b/u.test(question))
        .map((question) => withoutAliases(tidy(question), context.aliases)),
    ),
  ];
  if (from < 0) {
    if (span.kind === 'date' && /^(?:After|Before|Until) /u.test(aside)) return [];
    const predicate = `${text.slice(predicateStart)} ${(aside.split(' ')[0] ?? '').toLowerCase()}`;
    return finish(objectQuestions(subject, predicate, span, ''));
  }
  if (from < predicateStart) {
    return isWholeSubject(text, from, span, statement) ? finish(subjectQuestions(text, span, statement)) : [];
  }
  const before = ownPredicate(text.slice(predicateStart, from).trim());
  // "Ada Kell succeeded Bo Lind, who retired in 2019" does not say when she did.
  if (/(?:^|\s)(?:and|or)$|[,;:]$|, (?:who|which|whose) [^,;:]*$/u.test(before)) return [];
  const after = (
    /^(?:[^,;]|,(?=\d))*?(?= and |,(?!\d)|;|$)/u.exec(text.slice(from + span.text.length))?.[0] ?? ''
  ).trim();
  // Leaves out the rest of the sentence, so that the question is shorter and asks for one fact: "built in 1994 in"
  // becomes "built in".
  const asides = new RegExp(` (?:in|on|at|by|under|since) (?:${others.join('|')})(?= |$)`, 'gu');
  const short = others.length === 0 ? before : before.replace(asides, '');
  const shortAfter = /^(?:in|on|at|by|under|since|every|from|with|if|unless|when|while|because)\b/u.test(after)
    ? ''
    : after;
  return finish([
    ...objectQuestions(subject, short, span, shortAfter),
    ...objectQuestions(subject, before, span, after),
  ]);
}

function isWholeSubject(text: string, from: number, span: Span, { predicateStart }: Statement): boolean {
  return from + span.text.length + 1 === predicateStart && /^(?:\p{L}+ )?$/u.test(text.slice(0, from));
}

/** "Who designed the Lume Lamp?" keeps the word order. */
function subjectQuestions(text: string, span: Span, { predicateStart }: Statement): string[] {
  const predicate = /^(?:[^,;]|,(?=\d))+/u.exec(text.slice(predicateStart))?.[0] ?? '';
  return span.kind === 'name' ? [`Who ${predicate}?`, `What ${predicate}?`] : [`What ${predicate}?`];
}

/** The words that belong to the last verb: "costs" in "weighs 1.2 kilograms and costs". */
function ownPredicate(before: string): string {
  const parts = before.split(/ and (?=(?:is|are|was|were|has|had)\b|\p{Ll}+(?:s|ed)\b)/u);
  return parts.at(-1) ?? before;
}

function objectQuestions(subject: string, before: string, span: Span, after: string): string[] {
  const { adverb, verb, rest } = verbPhrase(before.split(/\s+/u));
  const words = rest
    .join(' ')
    .replace(/(?:^| )(?:the only|an?|the|his|her|its|their|our|my|only|about|around|nearly|over)$/iu, '');
  const isThing = /(?:^| )(?:an?|the)$/iu.test(rest.join(' '));
  const asked = [...(isThing ? placeWords(words, span, after) : []), ...questionWords(words, span, after)];
  if (adverb === '' && auxiliary.test(verb))
    return asked.map(({ word, rest: tail }) => `${word} ${verb} ${subject} ${tail}?`);
  const plural = /^\p{Ll}+s$/u.test(subject) ? { auxiliary: 'do', infinitive: verb } : null;
  const parts = takeApart(verb) ?? plural;
  if (parts === null) return [];
  const infinitive = `${adverb} ${parts.infinitive}`;
  return asked.map(({ word, rest: tail }) => `${word} ${parts.auxiliary} ${subject} ${infinitive} ${tail}?`);
}

/** Splits a phrase such as "nearly died of". The adverb goes with the verb. */
function verbPhrase([first = '', second = '', ...others]: readonly string[]): {
  readonly adverb: string;
  readonly verb: string;
  readonly rest: readonly string[];
} {
  const isAdverb =
    /^(?!(?:ap|com|im|multi|re|sup)p?ly$)(?:\p{Ll}{2,}ly|also|still|now|often|never|soon|later|once|even|almost)$/u.test(
      first,
    );
  return isAdverb && !auxiliary.test(second) && takeApart(second) !== null
    ? { adverb: first, verb: second, rest: others }
    : { adverb: '', verb: first, rest: [second, ...others] };
}

function tidy(question: string): string {
  return question.replace(/[“”"]/gu, '').replace(/\s+/gu, ' ').replace(/ \?$/u, '?');
}
