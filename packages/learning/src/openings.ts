/** How a question for an answer begins, by what kind of thing the answer is and what stands around it in its sentence. */
import { isCommonWord } from './commonWords.js';
import { isFunctionWord } from './functionWords.js';
import type { Span } from './spans.js';
import { kindsOf } from './kinds.js';
import {
  areaUnit,
  durationUnit,
  lengthUnit,
  massUnit,
  moneyUnit,
  percentUnit,
  speedUnit,
  temperatureUnit,
} from './units.js';
import { baseFormOf } from './verbs.js';

/** The words before an answer, and what follows it, in its sentence. */
export interface Surroundings {
  readonly before: readonly string[];
  readonly after: string;
}

const place = /^(?:in|at|on|near|off|under|behind|beside|above|along|across)$/u;
const direction = /^(?:from|to)$/u;

export interface Openings {
  /** Question words for the kind of answer; at least one. */
  readonly usual: readonly string[];
  /** With what the answer is: "Which nephew". */
  readonly naming: readonly string[];
}

export function openingsOf(span: Span, surroundings: Surroundings): Openings {
  const { kind, text } = span;
  const { previous, noun, preposition } = wordsBefore(surroundings.before);
  switch (kind) {
    case 'date':
      return usual(...momentOpenings(preposition), /\d{4}$/u.test(text) ? 'In which year' : 'On which day');
    case 'time':
      return usual(...momentOpenings(preposition), 'At what time');
    case 'money':
    case 'quantity':
      return usual(...quantityOpenings(text.toLowerCase(), surroundings.after));
    case 'name':
    case 'code':
    case 'quotation': {
      // "the command HALT", "the town of Trondvik", "her nephew Benedikt", "Dov Arkin, a fisherman".
      const nouns = [noun, apposition(surroundings.after), ...(kind === 'name' ? ownNouns(text) : [])];
      const naming = whichOf(nouns.filter(isNoun), preposition);
      if (place.test(preposition)) return { usual: ['Where', 'What'], naming };
      if (direction.test(preposition)) return { usual: ['Where', 'Who'], naming };
      if (kind !== 'name') return { usual: ['What', 'Which'], naming };
      return { usual: preposition === 'by' ? ['Who', 'By whom', 'What'] : ['Who', 'What'], naming };
    }
    case 'phrase': {
      if (/^(?:because|since)$/u.test(previous)) return usual('Why');
      if (/^(?:when|if|after|before|until)$/u.test(previous)) return usual('When');
      const parts = text.toLowerCase().split(' ');
      const [first = '', head = ''] = [parts[0], parts.at(-1)];
      const where = place.test(first) ? first : preposition;
      // The answer must not be told: "Which deck" asks for "upper deck", but "Which relative" for "nephew".
      const own = parts.length > 1 ? whichOf([head].filter(isNoun), where) : [];
      const isPlace = place.test(where) || direction.test(where);
      return {
        usual: isPlace ? ['Where', 'What'] : ['What', 'Which'],
        naming: [...new Set([...own, ...kindsOf(head).map(which)])],
      };
    }
  }
}

/** Of "in the old town of": `of`, `town` and `in`; of "by her nephew": `nephew` twice and `by`; of "in the": `the` twice and `in`. */
function wordsBefore(before: readonly string[]): { previous: string; noun: string; preposition: string } {
  const words = before.filter((word) => !/^(?:called|named)$/u.test(word));
  const previous = words.at(-1) ?? '';
  const phrase = previous === 'of' ? words.slice(0, -1) : words;
  const at = phrase.findLastIndex((word) => isPreposition(word.toLowerCase()));
  // Between a preposition and the answer stand an article or a possessive, an adjective and a noun at most.
  const preposition = at >= 0 && phrase.length - at <= 4 ? (phrase[at]?.toLowerCase() ?? '') : '';
  return { previous, noun: phrase.at(-1) ?? '', preposition };
}

function isPreposition(word: string): boolean {
  return place.test(word) || direction.test(word) || /^(?:by|until|till|since)$/u.test(word);
}

function usual(...openings: readonly string[]): Openings {
  return { usual: openings, naming: [] };
}

function momentOpenings(preposition: string): string[] {
  if (/^(?:until|till|by)$/u.test(preposition)) return ['When', 'Until when'];
  if (/^(?:from|since)$/u.test(preposition)) return ['When', 'Since when'];
  return ['When'];
}

/** Questions with the nouns, and with what they are: "Which nephew", "Which relative". */
function whichOf(nouns: readonly string[], preposition: string): string[] {
  return [...new Set(nouns)].flatMap((noun) => {
    const own = [which(noun), `What ${noun}`, ...kindsOf(noun).map(which)];
    return place.test(preposition) ? [...own, `${capitalised(preposition)} which ${noun}`] : own;
  });
}

function which(noun: string): string {
  return `Which ${noun}`;
}

/** The last word before the comma or the verb of "Dov Arkin, a fisherman who"; empty where nothing is put beside the answer. */
function apposition(after: string): string {
  return (
    /^,\s+(?:an?|the|his|her|its|their)\s+(?:\p{Ll}+\s){0,2}?(\p{Ll}+)(?=\s+(?:who|which|that|of|from|in|at|with)\b|[,.;]|$)/u.exec(
      after,
    )?.[1] ?? ''
  );
}

/** The common nouns that a name is made of: "field" of "Church Field", "academy" of "Academy of Dornach". */
function ownNouns(name: string): string[] {
  const words = name.split(/\s+/u);
  if (words.length < 2) return [];
  const [first = '', last = ''] = [words[0], words.at(-1)];
  return [last, ...(/^(?:of|de|\p{Lu}.*)$/u.test(words[1] ?? '') ? [first] : [])]
    .filter((word) => /^\p{Lu}\p{Ll}{2,}$/u.test(word) && isCommonWord(word))
    .map((word) => baseFormOf(word.toLowerCase()));
}

function isNoun(word: string): boolean {
  return /^\p{Ll}{3,}$/u.test(word) && !isFunctionWord(word);
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** What a quantity measures, by its unit; without one of these units it counts. */
const measures: readonly { readonly unit: RegExp; readonly openings: readonly string[] }[] = [
  { unit: speedUnit, openings: ['How fast', 'What speed', 'At what speed'] },
  { unit: moneyUnit, openings: ['How much', 'What', 'How much money'] },
  { unit: durationUnit, openings: ['How long', 'How many', 'What time'] },
  { unit: massUnit, openings: ['How heavy', 'How much', 'What weight'] },
  { unit: areaUnit, openings: ['How large', 'How big', 'What size'] },
  { unit: lengthUnit, openings: ['How long', 'How far', 'What'] },
  { unit: temperatureUnit, openings: ['How warm', 'What temperature', 'At what temperature', 'How many degrees'] },
  { unit: percentUnit, openings: ['How much', 'What share', 'How many percent'] },
];

const adjectives: ReadonlyMap<string, string> = new Map([
  ['high', 'height'],
  ['tall', 'height'],
  ['wide', 'width'],
  ['deep', 'depth'],
  ['long', 'length'],
  ['heavy', 'weight'],
  ['old', 'age'],
  ['thick', 'thickness'],
  ['large', 'size'],
  ['big', 'size'],
]);

/** What follows tells more: "150 square metres large", "20 miles an hour". */
function quantityOpenings(text: string, after: string): string[] {
  const per = /^\s+(?:an|per) (?:hour|second)\b/u.exec(after)?.[0] ?? '';
  const measured = measures.find(({ unit }) => unit.test(`${text}${per}`));
  if (measured !== undefined) {
    const next = /^\s*(\p{L}+)/u.exec(after)?.[1] ?? '';
    const noun = adjectives.get(next);
    return noun === undefined ? [...measured.openings] : [`How ${next}`, `What ${noun}`];
  }
  const counted = /(?:^|[ -])(\p{Ll}+s)$/u.exec(text)?.[1];
  if (counted === undefined) return ['How many', 'How much', 'What', 'What number'];
  return [`How many ${counted}`, 'How many', 'How much', `What number of ${counted}`];
}
