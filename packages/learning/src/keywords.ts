/**
 * A fact asked for in the words of its own sentence, the way people type into a search box: "Queries can be stopped with the command
 * HALT." gives "Which command query stopped Basalt?" and the like. They are clumsy, but they ask for what the sentence says,
 * whatever questions a small teacher comes up with; many of them, each with other words left out, tie the answer to the words that
 * questions about it share rather than to any one wording.
 */
import { isFunctionWord } from './functionWords.js';
import { containsWords, normalise } from './normalise.js';
import type { Stretch } from './sentences.js';
import type { Span } from './spans.js';
import { takeApart } from './verbs.js';

/** Chances that a content word is kept, by how many words it stands away from the answer. */
const keptChances = [
  { words: 4, chance: 0.8 },
  { words: 8, chance: 0.45 },
  { words: Infinity, chance: 0.15 },
] as const;
const duration = /\b(?:seconds?|minutes?|hours?|days?|nights?|weeks?|months?|years?|decades?)$/iu;

const wordSegmenter = new Intl.Segmenter('en', { granularity: 'word' });

interface Word {
  readonly text: string;
  readonly start: number;
}

/**
 * Up to `count` different questions for the span. `subjects` are what the sentence is about; each question names one of
 * them. None where there is no subject, since words alone could be about anything.
 */
export function keywordQuestions(
  sentence: Stretch,
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
  const openings = openingsOf(
    words.slice(0, first).map(({ text }) => text),
    span,
  );
  const values = spans.filter(({ kind, start }) => start !== span.start && kind !== 'phrase');
  const distance = (index: number): number => (index < first ? first - index : index - first - own + 1);
  const choices = words.flatMap((word, index) => {
    const isOwn = index >= first && index < first + own;
    const isValue = values.some(({ start, end }) => word.start >= start && word.start < end);
    if (isOwn || isValue || isFunctionWord(word.text)) return [];
    const chance = keptChances.find(({ words: reach }) => distance(index) <= reach)?.chance ?? 0;
    return [{ text: index === 0 ? word.text.toLowerCase() : word.text, chance }];
  });
  const questions = new Map<string, string>();
  for (let attempt = 0; attempt < 4 * count && questions.size < count; attempt++) {
    const subject = pick(subjects, random);
    const kept = choices.filter(({ chance }) => random() < chance).map(({ text }) => inflected(text, random));
    const fresh = kept.filter((word) => !normalise(subject).split(' ').includes(normalise(word)));
    if (fresh.length === 0) continue;
    const parts = random() < 0.5 ? [subject, ...fresh] : [...fresh, subject];
    const question = `${pick(openings, random)} ${parts.join(' ')}?`;
    if (!containsWords(question, span.text)) questions.set(normalise(question), question);
  }
  return [...questions.values()];
}

function wordsOf(sentence: Stretch): Word[] {
  return [...wordSegmenter.segment(sentence.text)]
    .filter(({ isWordLike }) => isWordLike === true)
    .map(({ segment, index }) => ({ text: segment, start: sentence.start + index }));
}

/** Question words for the kind of answer, by what stands before it. */
function openingsOf(before: readonly string[], { kind, text }: Span): string[] {
  const [previous = '', earlier = ''] = before.slice(-2).reverse();
  const preposition = previous === 'the' || previous === 'a' || previous === 'an' ? earlier : previous;
  switch (kind) {
    case 'date':
      return /\d{4}$/u.test(text) ? ['When', 'In which year'] : ['When', 'On which day'];
    case 'time':
      return ['When', 'At what time'];
    case 'money':
      return ['How much', 'What'];
    case 'quantity': {
      if (duration.test(text)) return ['How long', 'How many', 'When'];
      const unit = /(?:^|[ -])(\p{Ll}+s)$/u.exec(text)?.[1];
      return unit === undefined ? ['How many', 'How much', 'What'] : [`How many ${unit}`, 'How many', 'How much'];
    }
    case 'name':
    case 'code':
    case 'quotation': {
      // "the command HALT", "the town of Trondvik".
      const noun = previous === 'of' ? earlier : previous;
      const named = /^\p{Ll}{3,}$/u.test(noun) && !isFunctionWord(noun) ? [`Which ${noun}`, `What ${noun}`] : [];
      if (/^(?:in|at|on|near)$/u.test(preposition)) return [...named, 'Where', 'What'];
      if (/^(?:from|to)$/u.test(preposition)) return [...named, 'Where', 'Who'];
      return [...named, ...(kind === 'name' ? ['Who', 'What'] : ['What', 'Which'])];
    }
    case 'phrase':
      if (/^(?:because|since)$/u.test(previous)) return ['Why'];
      if (/^(?:when|if|after|before|until)$/u.test(previous)) return ['When'];
      return /^(?:in|at|on|near|from|to|under|behind)$/u.test(preposition) ? ['Where', 'What'] : ['What', 'Which'];
  }
}

/** People ask with another form of the word: "stopped" or "stop", "queries" or "query". */
function inflected(word: string, random: () => number): string {
  if (!/^\p{Ll}{4,}$/u.test(word) || random() < 0.5) return word;
  const infinitive = takeApart(word)?.infinitive ?? '';
  return infinitive.length < 3 ? word : infinitive;
}

function pick<Item>(items: readonly Item[], random: () => number): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('nothing to choose from');
  return item;
}
