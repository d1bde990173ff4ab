/**
 * Other wordings of a question that was made of a document's prose. People ask for a price, a time or a rule in a few
 * usual ways, whatever words the document has.
 */
import { copulaOf } from '@engraft/learning/parts';
import { durationUnit } from '../english/units.js';
import { participles } from '../english/verbs.js';
import type { Span } from '../spans/spans.js';
import { isMoney } from './documentQuestions.js';

/** The question itself is not among them. */
export function otherWordings(question: string, span: Span): string[] {
  const made = [
    ...(isMoney(span) ? [...priceWordings(question), ...paymentWordings(question), ...sumWordings(question)] : []),
    ...momentWordings(question, span),
    ...(durationUnit.test(span.text) ? durationWordings(question) : []),
    ...ruleWordings(question),
    ...shorterWordings(question),
  ];
  return [...new Set(made)].filter((other) => other !== question);
}

/** Without what people leave out, and "the shop" for "our shop". */
export function shorterWordings(question: string): string[] {
  const short = question
    .replace(/^(Where .+?) (?:at|in|on) the [^?]*\?$/u, '$1?')
    .replace(/ (?:only|up to|at least|at most|to the \p{Lu}\p{L}+)\?$/u, '?');
  const plain = short.replace(/\b[Oo]ur\b/u, 'the').replace(/\bwe\b/u, 'you');
  return [short, plain, short.replace(/\b[Oo]ur\b/u, 'your')];
}

const per = '( (?:an?|per|each|every|for each) \\p{Ll}+)?';
const priced = new RegExp(`^How much (?:(?:is|are) (.+?)(?: charged at)?|(?:does|do) (.+?) cost)${per}\\?$`, 'u');
const isSum =
  /\b(?:price|rent|fee|cost|deposit|charge|rate|total|amount|liability|salary|budget|fine|surcharge|discount|payment|premium|interest)s?$/u;

/** "How much is a spare lamp?" */
function priceWordings(question: string): string[] {
  const [, been, costing, unit = ''] = priced.exec(question) ?? [];
  const thing = (been ?? costing ?? '').replace(
    / (?:no more than|more than|less than|up to|at least|at most|from|about|only)$/u,
    '',
  );
  if (thing === '' || /^it\b| (?:to|for|at|on|with|in)$/u.test(thing)) return [];
  const isOne = copulaOf(thing) === 'is';
  if (isSum.test(thing)) {
    const noun = thing.replace(/^(?:the|an?|our|your|my) /u, '');
    return [
      `What ${isOne ? 'is' : 'are'} ${thing}${unit}?`,
      `How high ${isOne ? 'is' : 'are'} ${thing}${unit}?`,
      `How much ${noun} do I have to pay${unit}?`,
      `How much ${noun} has to be paid${unit}?`,
    ];
  }
  return [
    `How much ${isOne ? 'is' : 'are'} ${thing}${unit}?`,
    `What ${isOne ? 'does' : 'do'} ${thing} cost${unit}?`,
    `What is the price of ${thing}${unit}?`,
    `How much do I pay for ${thing}${unit}?`,
    `How much ${isOne ? 'does' : 'do'} ${thing} cost${unit}?`,
    `What do you charge for ${thing}${unit}?`,
  ];
}

/** "How much do students pay a month?" */
function paymentWordings(question: string): string[] {
  const [, helper = '', payer = '', unit = ''] =
    new RegExp(`^How much (does|do) (.+?) pay${per}(?: .*)?\\?$`, 'u').exec(question) ?? [];
  if (payer === '' || payer === 'I') return [];
  return [
    `What ${helper} ${payer} pay${unit}?`,
    `How much is it for ${payer}${unit}?`,
    `How much ${helper} ${payer} have to pay${unit}?`,
    `What is the price for ${payer}${unit}?`,
    ...(unit === '' ? [] : [`How much is paid${unit}?`, `What does it cost${unit}?`, `What is the price${unit}?`]),
  ];
}

/** "How much is the liability limited to?" */
function sumWordings(question: string): string[] {
  const [, being = '', thing = '', preposition = ''] =
    /^How much (is|are) (.+) (to|for|at|with)(?: at least| at most| up to)?\?$/u.exec(question) ?? [];
  if (thing === '' || thing.endsWith(' charged')) return [];
  const before = preposition.charAt(0).toUpperCase() + preposition.slice(1);
  return [`${before} what amount ${being} ${thing}?`, `${before} how much ${being} ${thing}?`];
}

/** "When does the lease begin?" */
function momentWordings(question: string, { kind }: Span): string[] {
  const [, rest = ''] = /^When ((?:is|are|was|were|does|do|did) .+)\?$/u.exec(question) ?? [];
  if (rest === '' || (kind !== 'date' && kind !== 'time')) return [];
  const swapped = rest.replace(/ (begin|start)$/u, (_, verb: string) => (verb === 'begin' ? ' start' : ' begin'));
  const opened = kind === 'date' ? ['On what date', 'On which day'] : ['At what time', 'What time'];
  return [...opened.map((opening) => `${opening} ${rest}?`), ...(swapped === rest ? [] : [`When ${swapped}?`])];
}

/** "Within how long is damage reported?", "What does the line run every?" */
function durationWordings(question: string): string[] {
  const [, often = ''] = /^(?:What|How many \p{Ll}+) ((?:is|are|do|does) .+) every\?$/u.exec(question) ?? [];
  if (often !== '') return [`How often ${often}?`, `How frequently ${often}?`, `At what interval ${often}?`];
  const [, rest = ''] = /^Within how long ((?:is|are|must|does|do) .+)\?$/u.exec(question) ?? [];
  return rest === '' ? [] : ['How quickly', 'How soon', 'Within what time'].map((opening) => `${opening} ${rest}?`);
}

/** Rules say what is done and mean what must or may be: "Where may the machine be used?" */
export function ruleWordings(question: string): string[] {
  const [, opening = '', thing = '', participle = '', rest = ''] =
    /^(\p{Lu}[^?]*?) (?:is|are) ((?:the |an? |my |your )?[\p{L}\p{N}-]+(?: [\p{Ll}\p{N}-]+){0,2}?) (\p{Ll}+)( [^?]*)?\?$/u.exec(
      question,
    ) ?? [];
  if (!/^(?:When|Where|Until when|Within|How (?:long|quickly|soon))\b/u.test(opening)) return [];
  if (/^How much$/u.test(opening) || !(participles.has(participle) || participle.endsWith('ed'))) return [];
  const verb = /^Where\b/u.test(opening) ? 'may' : 'must';
  return [`${opening} ${verb} ${thing} be ${participle}${rest}?`];
}
