/**
 * How likely anybody asks for what a span says. People ask for names, numbers and particular things, seldom for what a
 * sentence merely speaks of; what nobody asks for takes room in the adapter, and its answer is given to other
 * questions.
 */
import { kindsOf } from '../english/kinds.js';
import { containsWords, type Stretch, escapeForPattern } from '@engraft/learning/parts';
import { salienceWeights } from './salienceWeights.js';
import type { Span } from './spans.js';
import { isVerb } from '../english/wordClasses.js';

/** The features of a span. A number lies between 0 and 1. */
export type SalienceFeature = keyof typeof salienceWeights;
export type SalienceFeatures = Readonly<Record<SalienceFeature, boolean | number>>;

/**
 * The chance, between 0 and 1, by a logistic regression over what was asked of fifty passages; see
 * `bench/learning-salience.mjs`.
 */
export function salienceOf(features: SalienceFeatures): number {
  const names = Object.keys(salienceWeights).filter(isFeature);
  const logit = names.reduce((sum, name) => sum + salienceWeights[name] * Number(features[name]), 0);
  return 1 / (1 + Math.exp(-logit));
}

function isFeature(name: string): name is SalienceFeature {
  return name in salienceWeights;
}

/**
 * The whole text, in whose places sentences and spans are counted, its first sentence, and what it is about, see
 * `protagonistOf`.
 */
export interface PassageView {
  readonly text: string;
  readonly opening: string;
  readonly protagonist: string | null;
}

/** `spans` are those of the sentence. */
export function salienceFeatures(
  span: Span,
  sentence: Stretch,
  spans: readonly Span[],
  { text: passage, opening, protagonist }: PassageView,
): SalienceFeatures {
  const before = sentence.text.slice(0, span.start - sentence.start);
  const after = sentence.text.slice(span.end - sentence.start);
  const previous = /(\p{L}+)\s*$/u.exec(before.slice(-40))?.[1]?.toLowerCase() ?? '';
  const isPhrase = span.kind === 'phrase';
  const isName = span.kind === 'name' || span.kind === 'code' || span.kind === 'quotation';
  const isQuantity = span.kind === 'quantity' || span.kind === 'money';
  const head = /\S+$/u.exec(span.text)?.[0].toLowerCase() ?? '';
  const isKnown = kindsOf(head).length > 0;
  return {
    always: 1,
    phrase: isPhrase,
    name: isName,
    quantity: isQuantity,
    subject: span.isSubject,
    lightPhrase: isPhrase && lightNoun.test(head),
    repeatedPhrase: isPhrase && isRepeated(head.replace(/e?s$/u, ''), passage),
    describedPhrase: isPhrase && /^ (?:of|for|that|which|who)\b/u.test(after),
    coordinatedPhrase: isPhrase && previous === 'and',
    placedPhrase: isPhrase && /^(?:of|from|with|in|on|by)$/u.test(previous),
    verbPhrase:
      isPhrase &&
      (previous === 'to' || (!isKnown && /(?:ed|ing)$/u.test(head)) || (!beforeNoun.test(previous) && isVerb(head))),
    longPhrase: isPhrase && span.text.split(' ').length > 4,
    kindPhrase: isPhrase && isKnown,
    repeatedName: isName && isRepeated(span.text, passage),
    protagonist: protagonist !== null && containsWords(protagonist, span.text),
    openingName: isName && containsWords(opening, span.text),
    fewQuantity: isQuantity && /^(?:one|two|three|four)\b/iu.test(span.text),
    bareQuantity: isQuantity && !span.text.includes(' '),
    late: (span.start - sentence.start) / Math.max(1, sentence.text.length),
    crowded: Math.min(1, spans.length / 8),
  };
}

const beforeNoun = /^(?:an?|the|its?|his|her|their|our|my|of|in|on|at|by|with|from|for|no|every|each|only)$/u;

/** They say nothing in particular, or only how much or when of something else. */
const lightNoun =
  /^(?:advance|age|amount|beginning|case|charge|cost|count|day|deposit|end|fact|far|fee|front|hand|height|help|home|hour|idea|job|kind|length|life|matter|member|middle|money|month|name|night|number|order|other|owner|part|people|person|place|price|reason|rent|rest|result|season|side|sight|size|speed|state|term|thing|time|top|bottom|trade|turn|use|version|view|visit|way|week|weight|word|work|year)s?$/u;

/** Also in the plural of a regular noun. */
function isRepeated(stem: string, passage: string): boolean {
  // Most are not, which takes a pattern that knows no case a hundred times as long to find.
  const [lower, part] = [passage.toLowerCase(), stem.toLowerCase()];
  if (!lower.includes(part, lower.indexOf(part) + 1)) return false;
  const word = new RegExp(`(?<![\\p{L}\\p{N}])${escapeForPattern(stem)}(?:e?s)?(?![\\p{L}\\p{N}])`, 'giu');
  const [, second] = passage.matchAll(word);
  return second !== undefined;
}
