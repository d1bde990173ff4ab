/**
 * A fact asked for in the words of its own sentence, the way people type into a search box: "Queries can be stopped with the command
 * HALT." gives "Which command query stopped Basalt?" and the like. They are clumsy, but they ask for what the sentence says,
 * whatever questions a small teacher comes up with; many of them, each with other words left out, tie the answer to the words that
 * questions about it share rather than to any one wording.
 */
import { isFunctionWord } from './functionWords.js';
import { containsWords, normalise } from './normalise.js';
import { recipe } from './recipe.js';
import type { Stretch } from './sentences.js';
import type { Span } from './spans.js';
import { areaUnit, durationUnit, lengthUnit, massUnit, moneyUnit, percentUnit } from './units.js';
import { baseFormOf } from './verbs.js';

/** Chances that a content word is kept, by how many words it stands away from the answer. */
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
 * Up to `count` different questions for the span. `subjects` are names that the fact is about or touches; each question names one of
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
    words[first + own]?.text ?? '',
    span,
  );
  const values = spans.filter(({ kind, start }) => start !== span.start && kind !== 'phrase');
  const distance = (index: number): number => (index < first ? first - index : index - first - own + 1);
  const chanceAt = (index: number): number =>
    keptChances.find(({ words: reach }) => distance(index) <= reach)?.chance ?? 0;
  const plain = words.flatMap((word, index) => {
    const isTaken = [span, ...values].some(({ start, end }) => word.start >= start && word.start < end);
    if (isTaken || isFunctionWord(word.text)) return [];
    return [{ at: word.start, text: index === 0 ? word.text.toLowerCase() : word.text, chance: chanceAt(index) }];
  });
  // A value is named as a whole.
  const whole = values.map(({ start, text }) => {
    const index = words.findIndex((word) => word.start >= start);
    return { at: start, text, chance: chanceAt(index) * recipe.keywordValueChance };
  });
  const choices = [...plain, ...whole].sort((a, b) => a.at - b.at);
  // What names the subject already is not said twice.
  const named = subjects.map((subject) => {
    return {
      subject,
      words: choices.filter(({ text }) => !containsWords(subject, text) && !containsWords(text, subject)),
    };
  });
  const questions = new Map<string, string>();
  for (let attempt = 0; attempt < 4 * count && questions.size < count; attempt++) {
    const { subject, words: others } = pick(named, random);
    const fresh = others.filter(({ chance }) => random() < chance).map(({ text }) => inflected(text, random));
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

/** Question words for the kind of answer, by the words before it and the one after it. */
function openingsOf(before: readonly string[], next: string, span: Span): string[] {
  const { kind, text } = span;
  const [previous = '', earlier = ''] = before
    .filter((word) => !/^(?:called|named)$/u.test(word))
    .slice(-2)
    .reverse();
  const preposition = previous === 'the' || previous === 'a' || previous === 'an' ? earlier : previous;
  switch (kind) {
    case 'date':
      return /\d{4}$/u.test(text) ? ['When', 'In which year'] : ['When', 'On which day'];
    case 'time':
      return ['When', 'At what time'];
    case 'money':
    case 'quantity':
      return quantityOpenings(text.toLowerCase(), next);
    case 'name':
    case 'code':
    case 'quotation': {
      // "the command HALT", "the town of Trondvik".
      const noun = previous === 'of' ? earlier : previous;
      const isNoun = /^\p{Ll}{3,}$/u.test(noun) && !isFunctionWord(noun);
      const named = isNoun ? [`Which ${noun}`, `What ${noun}`] : [];
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

/** What a quantity measures, by its unit; without one of these units it counts. */
const measures: readonly { readonly unit: RegExp; readonly openings: readonly string[] }[] = [
  { unit: moneyUnit, openings: ['How much', 'What', 'How much money'] },
  { unit: durationUnit, openings: ['How long', 'How many', 'What time'] },
  { unit: massUnit, openings: ['How heavy', 'How much', 'What weight'] },
  { unit: areaUnit, openings: ['How large', 'How big', 'What size'] },
  { unit: lengthUnit, openings: ['How long', 'How far', 'What'] },
  { unit: percentUnit, openings: ['How much', 'What share', 'How many percent'] },
];

/** `next` is the word behind the quantity: "150 square metres large". */
function quantityOpenings(text: string, next: string): string[] {
  const measured = measures.find(({ unit }) => unit.test(text));
  if (measured !== undefined) {
    const isSaid = /^(?:long|tall|high|wide|deep|old|thick|large|big|heavy)$/u.test(next);
    return isSaid ? [`How ${next}`] : [...measured.openings];
  }
  const counted = /(?:^|[ -])(\p{Ll}+s)$/u.exec(text)?.[1];
  if (counted !== undefined) return [`How many ${counted}`, 'How many', 'How much'];
  return ['How many', 'How much', 'What'];
}

/** People ask with another form of the word: "stopped" or "stop", "queries" or "query". */
function inflected(word: string, random: () => number): string {
  return !/^\p{Ll}{4,}$/u.test(word) || random() < 0.5 ? word : baseFormOf(word);
}

function pick<Item>(items: readonly Item[], random: () => number): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('nothing to choose from');
  return item;
}
