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
 * The value in a sentence that repeats its question, as models answer that were made for conversation: of "The
 * lighthouse of Varn was built by Ada Kell." to "Who built the lighthouse of Varn?" it is "Ada Kell". A sentence that
 * says nothing new, or what is not so, or what is so only about, and any other answer are given back as they are.
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
  // In "The range of the Tarn 3 is 3 km." only the first number is the question's.
  const isAsked = (word: string, before: string): boolean =>
    /\p{N}/u.test(word) ? containsWords(question, `${before} ${word}`) : asked.has(baseFormOf(word.toLowerCase()));
  const isKnown = words.map(({ segment }, index) => isAsked(segment, words[index - 1]?.segment ?? ''));
  const isFresh = words.map(({ segment }, index) => isKnown[index] === false && !isFunctionWord(segment.toLowerCase()));
  const [first, last] = [words[isFresh.indexOf(true)], words[isFresh.lastIndexOf(true)]];
  if (first === undefined || last === undefined || !isKnown.includes(true)) return answer;
  // Currency signs, percent signs and the like belong to the value, and are no words.
  const end = last.index + last.segment.length;
  const after = /^[^\s.!?,;:]*/u.exec(text.slice(end))?.[0] ?? '';
  return text.slice(text.lastIndexOf(' ', first.index) + 1, end) + after;
}
