/** The question words for an answer, and what is left of the predicate after them. */
import { mayBeAge } from '../english/ages.js';
import { timeWord } from './questionWord.js';
import type { Span } from '../spans/spans.js';
import { isFrequency } from '../spans/valuePatterns.js';
import { capitalised } from '@engraft/learning/parts';
import { durationUnit } from '../english/units.js';

export interface Asked {
  readonly word: string;
  /** The predicate without its verb and without the answer. */
  readonly rest: string;
}

/** "allowed in the reading garden" gives "where", "open in the morning" gives "when". */
export function placeWords(words: string, span: Span, after: string): Asked[] {
  if (span.kind !== 'phrase' || words.includes(',') || /^of\b/u.test(after)) return [];
  const place = /^(.*?) ?\b(?:in|on|at|near|between|behind|beside|under|above|below|opposite|inside|outside)$/u.exec(
    words,
  );
  if (place === null) return [];
  const word = timeWord.test(span.text) || /^(?:end|beginning|start)$/u.test(span.text) ? 'When' : 'Where';
  return [{ word, rest: `${place[1] ?? ''} ${after.replace(/^(?:that|which|who|where)\b.*/u, '')}` }];
}

/** The question words for a kind of answer. A preposition joins its question word or stays behind, as in English. */
export function questionWords(words: string, span: Span, after: string): Asked[] {
  const reason = /^(.*?),? ?because$/u.exec(words);
  if (reason !== null) return [{ word: 'Why', rest: reason[1] ?? '' }];
  const until = /^(?:(.*) )?until$/u.exec(words);
  if (until !== null && !/^of\b/u.test(after)) return [{ word: 'Until when', rest: `${until[1] ?? ''} ${after}` }];
  const kindOf = /^(?:(.*) )?(in|on|at|near) the (\p{Ll}+) of$/u.exec(words);
  if (kindOf !== null)
    return [{ word: `${capitalised(kindOf[2] ?? '')} which ${kindOf[3] ?? ''}`, rest: `${kindOf[1] ?? ''} ${after}` }];
  const preposition = /(?:^| )(in|on|at|by|since|for|from|near|to|with|of|under)$/u.exec(words)?.[1] ?? '';
  const withoutPreposition = words.slice(0, words.length - preposition.length).trim();
  const named = span.kind === 'name' ? namedThing(words, after) : [];
  if (named.length > 0) return named;
  const stranded = `${words} ${after}`;
  const dropped = `${withoutPreposition} ${after}`;
  switch (span.kind) {
    case 'date':
      return [
        { word: 'When', rest: dropped },
        ...(/\d{4}$/u.test(span.text) ? [{ word: 'In what year', rest: dropped }] : []),
      ];
    case 'time':
      return [
        { word: 'When', rest: dropped },
        { word: 'At what time', rest: dropped },
      ];
    case 'money':
      return [{ word: 'How much', rest: stranded }];
    case 'quantity':
      if (isFrequency(span.text))
        return [
          { word: 'How often', rest: stranded },
          { word: 'How many times', rest: stranded },
        ];
      if (durationUnit.test(span.text) && /(?:^| )(?:after|within)$/u.test(words))
        return delayWords(words, span, after);
      if (preposition === 'at' && mayBeAge(span.text, words))
        return [{ word: 'At what age', rest: dropped }, ...quantityWords(span, words, after)];
      if (preposition === 'for' && durationUnit.test(span.text) && !words.includes(','))
        return [...durationWords(dropped), ...quantityWords(span, words, after)];
      return quantityWords(span, words, after);
    case 'name':
      if (preposition === 'by')
        return [
          { word: 'By whom', rest: dropped },
          { word: 'Who', rest: stranded },
        ];
      if (/\b(?:called|named)$/u.test(words)) return [{ word: 'What', rest: stranded }];
      if (/^(?:from|near)$/u.test(preposition)) return [{ word: 'Where', rest: stranded }];
      if (/^(?:in|on|at)$/u.test(preposition))
        return [
          { word: 'Where', rest: dropped },
          { word: 'What', rest: stranded },
        ];
      return [
        { word: 'Who', rest: stranded },
        { word: 'What', rest: stranded },
      ];
    default:
      return [{ word: 'What', rest: stranded }];
  }
}

/**
 * "runs the restaurant Blue Thimble" gives "which restaurant", "from the bakery Old Anvil" gives "from which bakery".
 */
function namedThing(words: string, after: string): Asked[] {
  const [, predicate = '', preposition = '', noun = ''] =
    /^(?:(.*?) )??(?:(in|on|at|by|for|from|near|to|with|of) )?the (\p{Ll}+)$/u.exec(words) ?? [];
  if (noun === '' || words.includes(',')) return [];
  const word = preposition === '' ? `Which ${noun}` : `${capitalised(preposition)} which ${noun}`;
  const rest = `${predicate} ${after}`;
  return [{ word, rest }, ...(preposition === 'by' ? [{ word: 'By whom', rest }] : [])];
}

/** "lends books for 28 days" gives "how long". */
function durationWords(predicate: string): Asked[] {
  const rest = predicate.replace(/\bonly\b/u, '');
  return ['How long', 'For how long'].map((word) => ({ word, rest }));
}

/** "turns itself off after 40 seconds" gives "after how long". */
function delayWords(words: string, span: Span, after: string): Asked[] {
  const [, predicate = '', when = ''] = /^(?:(.*) )?(after|within)$/u.exec(words) ?? [];
  const unit = /(\p{Ll}+s)$/u.exec(span.text)?.[1];
  const asked = ['how long', ...(unit === undefined ? [] : [`how many ${unit}`])];
  return asked.map((word) => ({ word: `${capitalised(when)} ${word}`, rest: `${predicate} ${after}` }));
}

/** "62 metres long" gives "how long", "340 pupils" gives "how many pupils", and others give "what". */
function quantityWords(span: Span, words: string, after: string): Asked[] {
  const stranded = `${words} ${after}`;
  const adjective = /^(?:long|tall|high|wide|deep|old|thick|large|big|away)\b/u.exec(after)?.[0];
  // "is sold with a cable 2 metres long" does not say how long the sold thing is.
  if (adjective !== undefined && /\p{Ll}/u.test(words.replace(degree, ''))) return [];
  if (adjective !== undefined) return [{ word: `How ${adjective === 'away' ? 'far' : adjective}`, rest: '' }];
  const [compared = ''] = /^(?:more|less|fewer) \p{Ll}+/u.exec(after) ?? [];
  if (compared !== '') {
    const word = `How ${compared.endsWith('s') ? 'many' : 'much'} ${compared}`;
    return [{ word, rest: stranded.replace(compared, '') }];
  }
  const unit = /(?:^|[ -])(\p{Ll}+)$/u.exec(span.text)?.[1] ?? '';
  if (/^(?:dollars?|euros?|pounds?|cents?|crowns?|francs?|yen|rupees?)$/u.test(unit))
    return [{ word: 'How much', rest: stranded }];
  const counted = /(?:s|people|men|women|children|sheep|fish)$/u.test(unit);
  return [...(counted ? [{ word: `How many ${unit}`, rest: stranded }] : []), { word: 'What', rest: stranded }];
}

/** Words that may stand between a verb and its measure. */
const degree =
  /\b(?:now|still|only|just|also|about|around|almost|nearly|roughly|exactly|over|up to|(?:at|more|less) (?:least|most|than))\b/gu;

/** Words of questions in general, in their base form, which say what is asked for rather than of what. */
const askingWords = new Set(
  `address age allow amount answer area ask be become begin belong big bring buy call charge close
  colour come consist contact contain cost count date day deep depth distance do duration earliest early end euro exact
  expect fast fee find finish first floor frequently full get give go happen have heavy height high hour include
  interval keep kind large largest last latest length long longest many maximum mean minimum minute money month much
  name need new next number offer often old open order organisation pay people percent period person phone place
  possible price quantity quickly rate reach reason require run second size small smallest soon sort speed start state
  stay stop street sum take tall temperature thing time title town turn type use usual value wait week weigh weight wide
  width work year`.split(/\s+/u),
);

export function isAskingWord(word: string): boolean {
  return askingWords.has(word);
}
