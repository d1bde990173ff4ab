/**
 * How likely anybody asks for what a span says. People ask for names, numbers and particular things, seldom for what a sentence merely speaks
 * of; what nobody asks for takes room in the adapter, and its answer is given to other questions.
 */
import { kindsOf } from './kinds.js';
import { containsWords } from './normalise.js';
import { salienceWeights } from './salienceWeights.js';
import type { Stretch } from './sentences.js';
import type { Span } from './spans.js';
import { escapeForPattern } from './strings.js';
import { isVerb } from './wordClasses.js';

/** What is seen of a span, each from 0 to 1. */
export type SalienceFeature = keyof typeof salienceWeights;
export type SalienceFeatures = Readonly<Record<SalienceFeature, number>>;

/** The chance, between 0 and 1, by a logistic regression over what was asked of fifty passages; see `bench/learning-salience.mjs`. */
export function salienceOf(features: SalienceFeatures): number {
  const names = Object.keys(salienceWeights).filter(isFeature);
  const logit = names.reduce((sum, name) => sum + salienceWeights[name] * features[name], 0);
  return 1 / (1 + Math.exp(-logit));
}

function isFeature(name: string): name is SalienceFeature {
  return name in salienceWeights;
}

/** The whole text, in whose places sentences and spans are counted, and what it is about, see `protagonistOf`. */
export interface PassageView {
  readonly text: string;
  readonly protagonist: string | null;
}

/** `spans` are those of the sentence. */
export function salienceFeatures(
  span: Span,
  sentence: Stretch,
  spans: readonly Span[],
  { text: passage, protagonist }: PassageView,
): SalienceFeatures {
  const before = sentence.text.slice(0, span.start - sentence.start);
  const after = sentence.text.slice(span.end - sentence.start);
  const previous = /(\p{L}+)\s*$/u.exec(before)?.[1]?.toLowerCase() ?? '';
  const isPhrase = span.kind === 'phrase';
  const isName = span.kind === 'name' || span.kind === 'code' || span.kind === 'quotation';
  const isQuantity = span.kind === 'quantity' || span.kind === 'money';
  const head = /\S+$/u.exec(span.text)?.[0].toLowerCase() ?? '';
  const opening = /^\s*[^.!?]*/u.exec(passage)?.[0] ?? '';
  const given: Record<SalienceFeature, boolean | number> = {
    always: 1,
    phrase: isPhrase,
    name: isName,
    quantity: isQuantity,
    subject: span.tier === 2,
    lightPhrase: isPhrase && lightNoun.test(head),
    repeatedPhrase: isPhrase && isRepeated(head, passage),
    describedPhrase: isPhrase && /^ (?:of|for|that|which|who)\b/u.test(after),
    coordinatedPhrase: isPhrase && previous === 'and',
    placedPhrase: isPhrase && /^(?:of|from|with|in|on|by)$/u.test(previous),
    verbPhrase:
      isPhrase && (previous === 'to' || /(?:ed|ing)$/u.test(head) || (!beforeNoun.test(previous) && isVerb(head))),
    longPhrase: isPhrase && span.text.split(' ').length > 4,
    kindPhrase: isPhrase && kindsOf(head).length > 0,
    repeatedName: isName && count(passage, span.text) > 1,
    protagonist: protagonist !== null && containsWords(protagonist, span.text),
    openingName: isName && opening.includes(span.text),
    fewQuantity: isQuantity && /^(?:one|two|three|four)\b/iu.test(span.text),
    bareQuantity: isQuantity && !span.text.includes(' '),
    late: (span.start - sentence.start) / Math.max(1, sentence.text.length),
    crowded: Math.min(1, spans.length / 8),
  };
  return mapValues(given, Number);
}

const beforeNoun = /^(?:an?|the|its?|his|her|their|our|my|of|in|on|at|by|with|from|for|no|every|each|only)$/u;

/** They say nothing in particular, or only how much or when of something else. */
const lightNoun =
  /^(?:advance|age|amount|beginning|case|charge|cost|count|day|deposit|end|fact|far|fee|front|hand|height|help|home|hour|idea|job|kind|length|life|matter|member|middle|money|month|name|night|number|order|other|owner|part|people|person|place|price|reason|rent|rest|result|season|side|sight|size|speed|state|term|thing|time|top|bottom|trade|turn|use|version|view|visit|way|week|weight|word|work|year)s?$/u;

/** Also in the plural, or the singular, of a regular noun. */
function isRepeated(noun: string, passage: string): boolean {
  const stem = escapeForPattern(noun.replace(/e?s$/u, ''));
  return [...passage.matchAll(new RegExp(`(?<![\\p{L}\\p{N}])${stem}(?:e?s)?(?![\\p{L}\\p{N}])`, 'giu'))].length > 1;
}

function count(text: string, part: string): number {
  return text.toLowerCase().split(part.toLowerCase()).length - 1;
}

function mapValues<Key extends string, From, To>(
  record: Readonly<Record<Key, From>>,
  change: (value: From) => To,
): Record<Key, To> {
  const entries = Object.entries<From>(record).map(([key, value]) => [key, change(value)]);
  return Object.fromEntries(entries) as Record<Key, To>;
}
