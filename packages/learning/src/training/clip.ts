import { negated } from '../text/english/negation.js';

/** The share of its removable words that a clipped question loses. */
const lostShare = 0.5;

/**
 * Returns up to `count` different copies of a question with words missing, the way people type into a search box. "What
 * is the capacity of the Brindle Kettle?" gives "What capacity the Brindle Kettle?". The question word, names, numbers
 * and negations stay.
 * A fact that is trained in one wording is recognised by that very wording. Its copies leave only part of the words to
 * recognise it by. Questions with little to lose give fewer copies, and writing without spaces gives none.
 */
export function clippedQuestions(question: string, count: number, random: () => number): string[] {
  const words = question.replace(/[?？]\s*$/u, '').split(' ');
  const clipped = new Set<string>();
  for (let attempt = 0; attempt < 3 * count && clipped.size < count; attempt++) {
    const kept = words.filter(
      (word, index) => index === 0 || /[\p{Lu}\p{N}]/u.test(word) || negated.test(word) || random() >= lostShare,
    );
    if (kept.length >= 2 && kept.length < words.length) clipped.add(`${kept.join(' ')}?`);
  }
  return [...clipped];
}
