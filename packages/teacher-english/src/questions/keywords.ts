/**
 * Asks for a fact in the words of its own sentence, the way people type into a search box. "Queries can be stopped with
 * the command HALT." gives "Which command query stopped Basalt?" and the like. These questions are clumsy, but they ask
 * for what the sentence says, whatever a small teacher comes up with. Many of them, each with different words left out,
 * tie the answer to the words that questions about it share rather than to one wording.
 */
import { containsWords, isFunctionWord, negated, normalise, wordTokens, type TextRange } from '@engraft/learning/parts';
import { isInClause } from './neededWords.js';
import { openingsOf } from './openings.js';
import type { Span } from '../spans/spans.js';
import { baseFormOf } from '../english/verbs.js';
import { rules } from '../rules.js';

/** The chance that a content word is kept, by its distance in words from the answer. */
const keptChances = [
  { words: 4, chance: 0.8 },
  { words: 8, chance: 0.45 },
  { words: Infinity, chance: 0.15 },
] as const;

const wordSegmenter = new Intl.Segmenter('en', { granularity: 'word' });

interface Word {
  readonly text: string;
  readonly start: number;
}

/**
 * Returns up to `count` different questions for the span. `subjects` are names that the fact is about or touches, and
 * each question names one of them. Without a subject there are none, since words alone could be about anything.
 */
export function keywordQuestions(
  sentence: TextRange,
  span: Span,
  spans: readonly Span[],
  subjects: readonly string[],
  count: number,
  random: () => number,
): string[] {
  if (subjects.length === 0) return [];
  const words = wordsOf(sentence);
  const first = words.findIndex(({ start }) => start >= span.start);
  const own = words.filter(({ start }) => start >= span.start && start < span.end).length;
  const openings = openingsOf(span, {
    before: sentence.text.slice(0, span.start - sentence.start),
    after: sentence.text.slice(span.end - sentence.start),
  });
  const values = spans.filter(({ kind, start, end }) => kind !== 'phrase' && (end <= span.start || start >= span.end));
  const distance = (index: number): number => (index < first ? first - index : index - first - own + 1);
  const chanceAt = (index: number): number =>
    keptChances.find(({ words: reach }) => distance(index) <= reach)?.chance ?? 0;
  const plain = words.flatMap((word, index) => {
    const isTaken = [span, ...values].some(({ start, end }) => word.start >= start && word.start < end);
    if (isTaken) return [];
    // "When open Sorrel Park?" must not be answered with the days on which it is closed.
    if (negated.test(word.text))
      return isInClause(word.start, sentence, span) ? [{ at: word.start, text: word.text, chance: 1 }] : [];
    if (isFunctionWord(word.text)) return [];
    return [{ at: word.start, text: index === 0 ? word.text.toLowerCase() : word.text, chance: chanceAt(index) }];
  });
  // A value is named as a whole.
  const whole = values.map(({ start, text }) => {
    const index = words.findIndex((word) => word.start >= start);
    return { at: start, text, chance: chanceAt(index) * rules.keywordValueChance };
  });
  const choices = [...plain, ...whole].sort((a, b) => a.at - b.at);
  // Words that name the subject are not repeated.
  const named = subjects.map((subject) => {
    return {
      subject,
      words: choices.filter(({ text }) => !containsWords(subject, text) && !containsWords(text, subject)),
    };
  });
  const told = wordTokens(span.text);
  const tells = (question: string): boolean => {
    const lower = question.normalize('NFKC').toLowerCase();
    // Splitting a text into words takes long, and few questions need it.
    return told.every((word) => lower.includes(word)) && containsWords(question, span.text);
  };
  const questions = new Map<string, string>();
  for (let attempt = 0; attempt < 4 * count && questions.size < count; attempt++) {
    const { subject, words: others } = pick(named, random);
    const { usual, naming } = openings;
    const opening = pick(naming.length > 0 && random() < rules.namingChance ? naming : usual, random);
    const fresh = others
      .filter(({ text, chance }) => random() < chance && !opening.split(' ').includes(text))
      .map(({ text }) => inflected(text, random));
    if (fresh.every((text) => negated.test(text))) continue;
    const parts = random() < 0.5 ? [subject, ...fresh] : [...fresh, subject];
    const question = `${opening} ${parts.join(' ')}?`;
    if (!tells(question)) questions.set(normalise(question), question);
  }
  return [...questions.values()];
}

function wordsOf(sentence: TextRange): Word[] {
  return [...wordSegmenter.segment(sentence.text)]
    .filter(({ isWordLike }) => isWordLike === true)
    .map(({ segment, index }) => ({ text: segment, start: sentence.start + index }));
}

/** People ask with another form of the word: "stopped" or "stop", "queries" or "query". */
function inflected(word: string, random: () => number): string {
  return !/^\p{Ll}{4,}$/u.test(word) || negated.test(word) || random() < 0.5 ? word : baseFormOf(word);
}

function pick<Item>(items: readonly Item[], random: () => number): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('nothing to choose from');
  return item;
}
