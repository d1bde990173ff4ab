/** Cuts from an answer the words that its question has already. */
import { containsWords, isFunctionWord, sameAnswer, wordTokens } from '@engraft/learning/parts';
import { qualified } from '../english/qualified.js';
import { baseFormOf } from '../english/verbs.js';

/** Removes "According to the passage, ". */
function withoutSource(text: string): string {
  const source =
    /^(?:According to|Based on|As (?:stated|mentioned) in) (?:the|this) (?:given |provided )?(?:passage|text),? (?=\S)|^The (?:passage|text) (?:says|states|mentions) that /u;
  return text.replace(source, '');
}

const wordSegmenter = new Intl.Segmenter('en', { granularity: 'word' });

/**
 * Extracts the value from a sentence that repeats its question, as chat models answer: "The lighthouse of Varn was
 * built by Ada Kell." for "Who built the lighthouse of Varn?" gives "Ada Kell". It returns any other answer as it is,
 * including a sentence that says nothing new, that denies something, or that is only about right.
 */
export function bareAnswer(question: string, answer: string, notStated: string): string {
  const text = withoutSource(answer.trim());
  if (
    !/^\S+(?:\s+\S+){3,}[.!]$/u.test(text) ||
    text.includes('\n') ||
    qualified.test(text) ||
    sameAnswer(text, notStated)
  )
    return answer;
  const asked = new Set(wordTokens(question).map(baseFormOf));
  const words = [...wordSegmenter.segment(text)].filter(({ isWordLike }) => isWordLike === true);
  // In "The range of the Tarn 3 is 3 km." only the first number belongs to the question.
  const isAsked = (word: string, before: string): boolean =>
    /\p{N}/u.test(word) ? containsWords(question, `${before} ${word}`) : asked.has(baseFormOf(word.toLowerCase()));
  const isKnown = words.map(({ segment }, index) => isAsked(segment, words[index - 1]?.segment ?? ''));
  const isFresh = words.map(({ segment }, index) => isKnown[index] === false && !isFunctionWord(segment.toLowerCase()));
  const [first, last] = [words[isFresh.indexOf(true)], words[isFresh.lastIndexOf(true)]];
  if (first === undefined || last === undefined || !isKnown.includes(true)) return answer;
  // Signs such as those of currencies and percentages are no words, but belong to the value.
  const end = last.index + last.segment.length;
  const after = /^[^\s.!?,;:]*/u.exec(text.slice(end))?.[0] ?? '';
  return text.slice(text.lastIndexOf(' ', first.index) + 1, end) + after;
}
