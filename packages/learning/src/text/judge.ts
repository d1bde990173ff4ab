/** Decides when an answer is right. Evaluation, retention and measurement all use this judge. */
import { isFunctionWord } from './english/functionWords.js';
import { denying } from './english/negation.js';
import { normalise, sameAnswer } from './normalise.js';
import { respelled } from './respelled.js';
import { sentencesOf } from './sentences.js';

/**
 * Whether an answer gives one of the accepted answers. After normalisation, one of these must hold: the words of an
 * accepted answer stand in it in one run; it is the end of an accepted answer, and most of it ("Maza" for "the activist
 * Maza"); or it has the numbers of one ("2 %" for "just over 2 %").
 *
 * A reply that begins with "yes" or "no" gives that answer. A clause that denies something gives no answer, unless the
 * question denies something too. The clauses before it may, and so may the sentences beside it. Of 330 answers judged
 * by hand, this function judges 7 differently (`fixtures/judgements.jsonl`); a comparison word for word, 93.
 */
export function givesAnswer(question: string, given: string, accepted: readonly string[]): boolean {
  if (accepted.some((answer) => sameAnswer(given, answer) || sameAnswer(respelled(given), respelled(answer)))) {
    return true;
  }
  // "No, it is not open." denies something after it has answered.
  const verdict = yesOrNo.exec(given)?.[1];
  if (verdict !== undefined && accepted.some((answer) => sameAnswer(verdict, answer))) return true;
  const isShare = inPercent.test(`${question} ${given}`);
  const meant = accepted.filter((answer) => isShare || !inPercent.test(answer));
  return saysAnswer(denying.test(question) ? given : affirmedIn(given), meant);
}

/** "50" is no 50 %, unless the question asks for per cent. */
const inPercent = /%|\bper ?cent/iu;

/** "Yes, it is open." "No. 5" is a number. */
const yesOrNo = /^[\s"'“‘]*(yes|no)(?:[,;:!—]|\.(?!\s*\d)|\s+[–-]\s)/iu;

/** Does the same, but a sentence that denies something may give the answer, too. */
export function saysAnswer(given: string, accepted: readonly string[]): boolean {
  const spellings = [...new Set([given, given.replace(compound, inPlural)])];
  const lifeYears = new Set([...given.matchAll(lifeDates)].flatMap(([, born, died]) => [born, died]));
  const replies = spellings.map(writtenWays);
  return accepted.some((each) => {
    const minValueF1 = /\p{Lu}/u.test(each) ? minPartF1 : minNumberF1;
    const says = (words: string, answer: string): boolean =>
      (!isTooBare(answer, ` ${words} `, lifeYears) && ` ${words} `.includes(` ${answer} `)) ||
      isMostOf(words, answer, minValueF1);
    const answer = writtenWays(each);
    return replies.some(
      (reply) =>
        says(reply.plain, answer.plain) ||
        says(reply.other, answer.other) ||
        // "3.10" without a unit may be a version, and no 3.1.
        (measured.test(answer.other) && says(withoutLastZeros(reply.other), withoutLastZeros(answer.other))),
    );
  });
}

/** Normalised, as it stands and as people also write it. */
function writtenWays(text: string): { readonly plain: string; readonly other: string } {
  const plain = asRange(normalise(text));
  const otherText = respelled(text);
  return { plain, other: otherText === text ? plain : asRange(normalise(otherText)) };
}

/** A number with a unit behind it. */
const measured = /(?<!\S)-?\d+(?:\.\d+)? [\p{L}°]/u;

/** "1.50 metres" as "1.5 metres". */
function withoutLastZeros(words: string): string {
  return words.replace(/(?<=(?<!\S)-?\d{1,12})(\.\d{0,12}?)0{1,12}(?= [\p{L}°])/gu, (_zeros, decimals: string) =>
    decimals === '.' ? '' : decimals,
  );
}

/** "a 20-square-meter room" has 20 square meters. */
const compound = /(?<=\d)-(\p{Ll}+(?:-\p{Ll}+)*)/gu;

function inPlural(_compound: string, unit: string): string {
  return ` ${unit.replaceAll('-', ' ')}s`;
}

/** "Ada Kell (1902–1977) was a botanist." says when she died. Other ranges of years give neither of the two. */
const lifeDates = /\((\d{4}) ?[–-] ?(\d{4})\)/gu;

/** The sentences that deny nothing, and what the others say before the clause that does. */
function affirmedIn(given: string): string {
  if (!denying.test(given)) return given;
  return sentencesOf(given)
    .map(({ text }) => affirmedBefore(text))
    .join(' ');
}

/** "It needs 6 MB more, so that old models cannot use it." affirms the 6 MB. */
function affirmedBefore(sentence: string): string {
  const at = sentence.search(denying);
  if (at === -1) return sentence;
  // "6,000" has no clause before its comma.
  const clauses = sentence.slice(0, sentence.slice(0, at).lastIndexOf(', ') + 1);
  return /^\s*(?:if|whether)\b/iu.test(clauses) ? '' : clauses;
}

/** "from 9:00 to 17:00" as "9:00 – 17:00" is written after normalisation. */
function asRange(words: string): string {
  return words
    .replace(/\bbetween (\d\S*(?: [ap]m)?) and (?=\d)/gu, '$1 ')
    .replace(/(?:\bfrom )?(?<!\S)(\d\S*(?: [ap]m)?) (?:to|until|till) (?=\d)/gu, '$1 ');
}

/**
 * Whether a run of an accepted answer's words says enough of it, by token F1. The run must have all numbers of the
 * answer, or, if there are none, its end: the beginning of a name says too little ("New" of "New Aldport"). Both are
 * normalised.
 */
function isMostOf(given: string, answer: string, minValueF1: number): boolean {
  if (given === '' || !` ${answer} `.includes(` ${given} `)) return false;
  const [own, all] = [given.split(' '), answer.split(' ')];
  const numbers = (words: readonly string[]): string => words.filter((word) => /\d/u.test(word)).join(' ');
  if (numbers(all) === '') return lengthF1(own, all) >= minPartF1 && own.at(-1) === all.at(-1);
  // Beside a value, words such as "in" add nothing.
  const isContent = (word: string): boolean => !isFunctionWord(word);
  return lengthF1(own.filter(isContent), all.filter(isContent)) >= minValueF1 && numbers(own) === numbers(all);
}

/** Token F1 of a run of words against the whole that it is part of. */
function lengthF1(part: readonly string[], whole: readonly string[]): number {
  return (2 * part.length) / (part.length + whole.length);
}

const minPartF1 = 0.6;
/**
 * A value says more than the words around it: "12 percent" of "12 percent of the whole roof". A name must not be left
 * out: "2006" is too little of "the 2006 BET Awards".
 */
const minNumberF1 = 0.4;

/** A bare number occurs in many lists, yes and no in many sentences. There they are no answer. */
function isTooBare(answer: string, words: string, lifeYears: ReadonlySet<string | undefined>): boolean {
  if (/^\d+$/u.test(answer)) {
    const all = (year.test(answer) ? words.replace(dayOfDate, '') : words).trim().split(' ');
    const isNumber = (word: string | undefined): boolean => /\d/u.test(word ?? '');
    const numbers = all.filter(isNumber).length;
    const at = all.indexOf(answer);
    const [before = '', after] = [all[at - 1], all[at + 1]];
    const isOfDate = year.test(answer) && /^\d{1,2}$/u.test(before);
    const isOfRange = !lifeYears.has(answer) && ((isNumber(before) && !isOfDate) || isNumber(after));
    return numbers > 1 && (isOfRange || all.length - numbers < minSentenceWords);
  }
  return answer === '' || answer === 'no' || answer === 'yes';
}

/** The "3" in "3 february 1938", which makes no list of numbers with the year. */
const dayOfDate = /(?<!\S)\d{1,2} (?=\p{Ll}{3,9} (?:1\d|20)\d\d(?!\S))/gu;

/** "2011" is given by "on June 28, 2011". */
const year = /^(?:1\d|20)\d\d$/u;

/** A reply with so many words beside its numbers is no list of them: "In 2013 she made the Time 100 list". */
const minSentenceWords = 6;
