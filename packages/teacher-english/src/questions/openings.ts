/** How a question begins, by the kind of its answer and the words around the answer in its sentence. */
import { isAge, mayBeAge } from '../english/ages.js';
import { isFunctionWord, capitalised } from '@engraft/learning/parts';
import type { Span } from '../spans/spans.js';
import { kindsOf } from '../english/kinds.js';
import {
  areaUnit,
  durationUnit,
  lengthUnit,
  massUnit,
  moneyUnit,
  percentUnit,
  speedUnit,
  temperatureUnit,
} from '../english/units.js';
import { takeApart } from '../english/verbs.js';

/** The text before and after an answer in its sentence. */
export interface Surroundings {
  readonly before: string;
  readonly after: string;
}

const places = 'in|at|on|near|off|under|behind|beside|above|along|across';
const place = new RegExp(`^(?:${places})$`, 'u');
const direction = /^(?:from|to)$/u;

const prepositionBefore = `(?:(?<!\\p{L})(${places}|from|to|by|until|till|since)\\s+)?`;
/** "in the old town of", "by her nephew": a preposition, an article or possessive with up to two words, "of". */
const phraseBefore = new RegExp(
  `${prepositionBefore}(?:(?<!\\p{L})(?:the|an?|his|her|its|their|our|my)\\s+((?:(?!(?:of|called|named)\\s)[\\p{Ll}-]+\\s+){0,2}))?(?:(?:of|called|named)\\s+)?$`,
  'u',
);
const isOf = /\b(?:of|called|named)\s+$/u;
const wordBefore = new RegExp(`${prepositionBefore}(?:(?:the|an?)\\s+)?$`, 'u');

/** The last words of names that say what they name: "Church Field". */
const heads =
  /^(?:field|street|road|lane|square|park|gardens?|school|academy|university|college|institute|museum|library|hospital|hotel|theatre|station|bridge|church|hall|tower|castle|harbour|lake|river|island|valley|forest|mill|farm|market|company|builders|orchestra|club|bank)$/iu;
/** The first words of such names: "Cape Renfrew", "Captain Wolfe". */
const titles =
  /^(?:lake|mount|cape|port|hotel|fort|captain|professor|doctor|sister|councillor|king|queen|prince|princess|judge|bishop)$/iu;
/** Kinds of a person's occupation rather than of the person. */
const callings =
  /^(?:trade|craft|profession|job|occupation|position|role|public office|office|post|military rank|rank|officer|noble title|title|voice type|voice|dog breed|breed)$/u;

export interface Openings {
  /** Question words for the kind of answer. There is at least one. */
  readonly usual: readonly string[];
  /** Openings that say what the answer is: "Which nephew". */
  readonly naming: readonly string[];
}

export function openingsOf(span: Span, surroundings: Surroundings): Openings {
  const { kind, text } = span;
  // The first word of a sentence always has a capital.
  const before = surroundings.before.replace(/^\s*\p{Lu}/u, (first) => first.toLowerCase());
  const { preposition, noun } = phraseOf(before);
  const previous = /(\p{L}+)\s*$/u.exec(before)?.[1] ?? '';
  switch (kind) {
    case 'date':
      return usual(...momentOpenings(preposition), ...dateOpenings(text));
    case 'time':
      return usual(...momentOpenings(preposition), 'At what time', 'At what hour');
    case 'money':
    case 'quantity':
      return usual(
        ...(isAge(text, before) ? [] : quantityOpenings(text.toLowerCase(), surroundings.after)),
        ...(mayBeAge(text, before) ? ['How old', 'At what age', 'What age'] : []),
      );
    case 'name':
    case 'code':
    case 'quotation': {
      // "the command HALT", "the town of Trondvik", "her nephew Benedikt", "Dov Arkin, a fisherman".
      const nouns = [noun, apposition(surroundings.after), ...(kind === 'name' ? ownNouns(text) : [])];
      const kinds = kindsOf(text.toLowerCase()).map(which);
      const naming = [...whichOf(nouns.filter(isNoun), preposition), ...kinds];
      if (preposition === 'in') return { usual: ['Where', 'In which place', 'In which town', 'What'], naming };
      if (place.test(preposition)) return { usual: ['Where', 'In which place', 'What'], naming };
      if (direction.test(preposition)) return { usual: ['Where', 'Who'], naming };
      if (kind !== 'name') return { usual: ['What', 'Which'], naming };
      return { usual: preposition === 'by' ? ['Who', 'By whom', 'What'] : ['Who', 'What'], naming };
    }
    case 'phrase': {
      if (/^(?:because|since)$/u.test(previous)) return usual('Why');
      if (/^(?:when|if|after|before|until)$/u.test(previous)) return usual('When');
      const parts = text.toLowerCase().split(/\s+/u);
      const [first = '', head = ''] = [parts[0], parts.at(-1)];
      const where = place.test(first) ? first : preposition;
      const kinds =
        [text.toLowerCase(), parts.slice(-2).join(' '), head].map(kindsOf).find(({ length }) => length > 0) ?? [];
      // The question must not give the answer away. "Which deck" asks for "upper deck", but "nephew" needs "Which
      // relative", and a colour is no thing.
      const isThing = parts.length > 1 && parts.length <= 3 && isNoun(head) && !kinds.includes('colour');
      const own = isThing ? whichOf([head], where, kinds) : kinds.map(which);
      const isPlace = place.test(where) || direction.test(where);
      return { usual: isPlace ? ['Where', 'What'] : ['What', 'Which'], naming: own };
    }
  }
}

/** The preposition and the noun of the phrase around the answer, each empty if there is none. */
function phraseOf(before: string): { readonly preposition: string; readonly noun: string } {
  const [, preposition = '', phrase = ''] = phraseBefore.exec(before) ?? [];
  const words = phrase.split(/\s+/u).filter((word) => word !== '');
  const noun = words.at(-1) ?? '';
  // "The smith saw Ola Finn": a word after an article need not be its noun.
  const isVerb = words.length > 1 && !isOf.test(before) && takeApart(noun) !== null;
  if (!words.some(isFunctionWord)) return isVerb ? { preposition: '', noun: '' } : { preposition, noun };
  return { preposition: wordBefore.exec(before)?.[1] ?? '', noun: '' };
}

function usual(...openings: readonly string[]): Openings {
  return { usual: openings, naming: [] };
}

function momentOpenings(preposition: string): string[] {
  if (/^(?:until|till|by)$/u.test(preposition)) return ['When', 'Until when'];
  if (/^(?:from|since)$/u.test(preposition)) return ['When', 'Since when'];
  return ['When'];
}

/** "1994", "May", "3 May", "Tuesday": depends on what the date says. */
function dateOpenings(date: string): string[] {
  if (/^\d{4}s?$/u.test(date)) return ['In which year', 'In what year'];
  if (/^\p{L}+$/u.test(date)) return /days?$/u.test(date) ? ['On which day'] : ['In which month', 'In what month'];
  return ['On which day', 'On what date', ...(/\d{4}$/u.test(date) ? ['In which year'] : [])];
}

/** Questions with the nouns and with their kinds: "Which nephew", "Which relative". */
function whichOf(nouns: readonly string[], preposition: string, kinds?: readonly string[]): string[] {
  return [...new Set(nouns)].flatMap((noun) => {
    const more = kinds ?? kindsOf(noun).filter((kind) => !callings.test(kind));
    const own = [which(noun), `What ${noun}`, ...more.map(which)];
    return place.test(preposition) ? [...own, `${capitalised(preposition)} which ${noun}`] : own;
  });
}

function which(noun: string): string {
  return `Which ${noun}`;
}

/** "fisherman" in "Dov Arkin, a young fisherman who". Empty if there is no apposition. */
function apposition(after: string): string {
  const [, words = ''] =
    /^,\s+(?:an?|the|his|her|its|their)\s+((?:\p{Ll}+\s){0,2}\p{Ll}+)(?:\s+(?:who|which|that|of|from)\b|,|[.;]$)/u.exec(
      after,
    ) ?? [];
  const all = words.split(' ');
  return all.some(isFunctionWord) ? '' : (all.at(-1) ?? '');
}

/** The common nouns in a name: "field" in "Church Field", "academy" in "Academy of Dornach". */
function ownNouns(name: string): string[] {
  const [first = '', second = '', ...others] = name.split(/\s+/u);
  const last = others.at(-1) ?? second;
  if (second === 'of') return [first.toLowerCase()];
  return [...(heads.test(last) ? [last] : []), ...(titles.test(first) && second !== '' ? [first] : [])].map((noun) =>
    noun.toLowerCase(),
  );
}

function isNoun(word: string): boolean {
  return /^\p{Ll}{3,}$/u.test(word) && !isFunctionWord(word);
}

/** Openings by the unit of a quantity. Without one of these units it counts. */
const measures: readonly { readonly unit: RegExp; readonly openings: readonly string[] }[] = [
  { unit: moneyUnit, openings: ['How much', 'What', 'How much money', 'What sum', 'What price'] },
  { unit: durationUnit, openings: ['How long', 'For how long', 'How much time', 'What period'] },
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

/** The words after it tell more: "150 square metres large", "20 miles an hour". */
function quantityOpenings(text: string, after: string): string[] {
  const per = /^\s+(?:an?|per) (?:hour|second)\b/u.exec(after)?.[0] ?? '';
  if (speedUnit.test(`${text}${per}`)) return ['How fast', 'What speed', 'At what speed'];
  const measured = measures.find(({ unit }) => unit.test(text));
  if (measured !== undefined) {
    const next = /^[\s-]*(\p{L}+)/u.exec(after)?.[1] ?? '';
    const noun = adjectives.get(next);
    return noun === undefined ? [...measured.openings] : [`How ${next}`, `What ${noun}`];
  }
  const counted = /(?:^|[ -])(\p{Ll}+s)$/u.exec(text)?.[1];
  if (counted === undefined) return ['How many', 'How much', 'What', 'What number'];
  return [`How many ${counted}`, 'How many', 'How much', `What number of ${counted}`];
}
