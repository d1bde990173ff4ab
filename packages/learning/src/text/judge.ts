/** When an answer is right. One judge for what is evaluated, retained and measured. */
import { normalise, sameAnswer } from './normalise.js';

/**
 * Whether an answer gives one of the accepted ones, by itself or in a sentence: the words of an accepted one stand in it
 * in one run, after normalisation; or it is the end of an accepted one and most of it, or has its numbers
 * ("Maza" for "the activist Maza", "2 %" for "just over 2 %"). A sentence that denies something, unless its question does, is no such answer. Of 330
 * answers that were judged by hand it judges 9 otherwise (`fixtures/judgements.jsonl`); comparing word for word, 93.
 */
export function givesAnswer(question: string, given: string, accepted: readonly string[]): boolean {
  if (accepted.some((answer) => sameAnswer(given, answer))) return true;
  if (denial.test(given) && !denial.test(question)) return false;
  const words = ` ${normalise(given)} `;
  return accepted
    .map(normalise)
    .some((answer) => (!isTooBare(answer, words) && words.includes(` ${answer} `)) || isMostOf(words.trim(), answer));
}

/**
 * A run of an accepted answer's words with most of it, by token F1: with all of its numbers, or where there are none, with
 * its end, as what a name begins with says too little ("New" of "New Aldport"). Both are normalised.
 */
function isMostOf(given: string, answer: string): boolean {
  if (given === '' || !` ${answer} `.includes(` ${given} `)) return false;
  const [own, all] = [given.split(' '), answer.split(' ')];
  const numbers = (words: readonly string[]): string => words.filter((word) => /\d/u.test(word)).join(' ');
  const hasNumbers = numbers(all) !== '';
  const f1 = (2 * own.length) / (own.length + all.length);
  if (f1 < (hasNumbers ? minNumberF1 : minPartF1)) return false;
  return hasNumbers ? numbers(own) === numbers(all) : own.at(-1) === all.at(-1);
}

const minPartF1 = 0.6;
/** A value says more than the words around it: "12 percent" of "12 percent of the whole roof". */
const minNumberF1 = 0.4;

/** A bare number is in many a list of numbers, and yes or no in many a sentence: these say something by themselves only. */
function isTooBare(answer: string, words: string): boolean {
  if (/^\d+$/u.test(answer)) return (words.match(/\d[\d.:]*/gu) ?? []).length > 1;
  return answer === '' || answer === 'no' || answer === 'yes';
}

const denial =
  /\b(?:not|cannot|never|no longer|neither|nor|without|unknown|rather than|instead of|no information)\b|n['’]t\b/iu;
