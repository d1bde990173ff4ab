import { negated } from '../text/english/negation.js';

/** Shares of the words that a clipped question may lose that it does lose. */
const lostShare = 0.5;

/**
 * Up to `count` different copies of a question with words missing, the way people type into a search box: "What is the
 * capacity of the Brindle Kettle?" gives "What capacity the Brindle Kettle?". The question word, names, numbers and
 * what denies stay. A fact that is trained in one wording alone is recognised by that very wording; its copies leave a
 * part of the words to recognise it by. Fewer for questions with little to lose, none for writing without spaces.
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
