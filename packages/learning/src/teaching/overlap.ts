import { questionKey } from '../facts.js';
import { wordTokens } from '../text/normalise.js';

/**
 * The question as a whole, and every run of `overlapTokens` word tokens in it, each at most once. If two questions
 * share one of these, neither tests what the other taught.
 */
export function fingerprints(question: string, overlapTokens: number): string[] {
  const words = wordTokens(question);
  const keys = new Set([`= ${questionKey(question)}`]);
  for (let start = 0; start + overlapTokens <= words.length; start++) {
    keys.add(words.slice(start, start + overlapTokens).join(' '));
  }
  return [...keys];
}
