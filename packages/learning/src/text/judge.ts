/** When an answer is right. One judge for what is evaluated, retained and measured. */
import { normalise, sameAnswer } from './normalise.js';

/**
 * Whether an answer gives one of the accepted ones, by itself or in a sentence: the words of an accepted one stand in it
 * in one run, after normalisation. A sentence that denies something, unless its question does, is no such answer. Of 300
 * answers that were judged by hand it judges 8 otherwise (`fixtures/judgements.jsonl`); comparing word for word, 64.
 */
export function givesAnswer(question: string, given: string, accepted: readonly string[]): boolean {
  if (accepted.some((answer) => sameAnswer(given, answer))) return true;
  if (denial.test(given) && !denial.test(question)) return false;
  const words = ` ${normalise(given)} `;
  return accepted.map(normalise).some((answer) => !isTooBare(answer, words) && words.includes(` ${answer} `));
}

/** A bare number is in many a list of numbers, and yes or no in many a sentence: these say something by themselves only. */
function isTooBare(answer: string, words: string): boolean {
  if (/^\d+$/u.test(answer)) return (words.match(/\d[\d.:]*/gu) ?? []).length > 1;
  return answer === '' || answer === 'no' || answer === 'yes';
}

const denial =
  /\b(?:not|cannot|never|no longer|neither|nor|without|unknown|rather than|instead of|no information)\b|n['’]t\b/iu;

/** Share of words that two answers have in common: the F1 of SQuAD's evaluation script (Rajpurkar et al., 2016). */
export function tokenF1(given: string, accepted: string): number {
  const [words, wanted] = [normalise(given).split(' '), normalise(accepted).split(' ')];
  const left = new Map<string, number>();
  for (const word of wanted) left.set(word, (left.get(word) ?? 0) + 1);
  let shared = 0;
  for (const word of words) {
    const count = left.get(word) ?? 0;
    if (count > 0) shared += 1;
    left.set(word, count - 1);
  }
  return (2 * shared) / (words.length + wanted.length);
}
