/** Questions for who did something, where a document says so in the passive. */
import { isPersonName, type TextRange } from '@engraft/learning/parts';
import { participles, presentOf, takeApart } from '../english/verbs.js';
import type { Span } from '../spans/spans.js';
import { takeStatementApart } from '../spans/statement.js';
import { isKnownWord } from './spokenNames.js';

/** "Lost property is kept by Ada Kell." also says who keeps it; "Designed by Bo Lind." who designed the desk. */
export function makerQuestions(
  sentence: TextRange,
  before: string,
  span: Span,
  spans: readonly Span[],
  title: string | null,
): string[] {
  if (span.kind !== 'name') return [];
  const [, being = '', participle = '', particle = ''] = madeBy.exec(before) ?? [];
  const forms = isMaker(span.text) ? activeOf(participle.toLowerCase()) : null;
  if (forms === null) return [];
  const what =
    being === '' ? reducedSubject(before, participle, title) : takeStatementApart(sentence, spans, null)?.subject;
  if (what === undefined || what === null) return [];
  const isPresent = being === 'is' || being === 'are';
  const passive = `${being === '' ? 'was' : being} ${what} ${participle.toLowerCase()}${particle}`;
  return [
    `Who ${isPresent ? forms.present : forms.past}${particle} ${what}?`,
    `By whom ${passive}?`,
    `Who ${passive} by?`,
  ];
}

/** "is kept by", "are handed out by", "are sold at the harbour office by", and "Designed by" at the beginning. */
const madeBy =
  /(?:\b(is|are|was|were) |, |^\s*)(\p{L}+)( (?:out|up|in|off|over|down))?(?: (?:at|in|on) [^,;.]{2,40})? by (?:the )?$/u;

/** "the command watch" of "New command watch, written by …", and the title of "Designed by …". */
function reducedSubject(before: string, participle: string, title: string | null): string | null {
  const start = before.slice(0, before.lastIndexOf(participle));
  if (start.trim() === '') return title;
  const [, isNew, noun = ''] = /^\s*(New:? )?(?:(?:an?|the) )?([^,.;:]{3,50}), $/iu.exec(start) ?? [];
  if (noun === '') return null;
  const plain =
    /^\p{Lu}\p{Ll}/u.test(noun) && isNew === undefined ? noun.charAt(0).toLowerCase() + noun.slice(1) : noun;
  return `the ${plain.replaceAll('`', '')}`;
}

interface Active {
  readonly present: string;
  readonly past: string;
}

/** People and organisations do things. "City Hall" does not, as its words tell. */
function isMaker(name: string): boolean {
  const words = name.split(' ');
  const isUnknown = words.length > 1 && words.length < 4 && !isKnownWord((words[0] ?? '').toLowerCase());
  return isPersonName(name) || isUnknown || organisation.test(words.at(-1) ?? '');
}

const organisation =
  /^(?:Ltd|Inc|LLC|PLC|plc|GmbH|AG|SA|Co|Corp|Corporation|Company|Bros|Brothers|Sons|Partners|Associates|Group|Studios?|Team|Agency|Institute|University|College|Council|Committee|Ministry|Department|Society|Association|Foundation|Trust|Union|Press|Publishers|Records|Architects|Engineers|Industries|Systems|Technologies|Laboratories|Labs)\.?$/u;

/** They say where or how something is, and nobody does them. */
export const statives: ReadonlySet<string> = new Set(
  `accompanied based bordered bounded called connected crossed divided dominated encircled
  enclosed faced fed flanked followed framed hemmed hidden joined known lined linked located named overlooked placed
  positioned preceded reached separated set sheltered shaded situated surrounded titled topped`.split(/\s+/u),
);

/** "keeps" and "kept" of "kept". `null` for a word that is no participle, or says no action. */
function activeOf(participle: string): Active | null {
  if (statives.has(participle)) return null;
  const known = participles.get(participle);
  if (known !== undefined) return { present: presentOf(known.infinitive), past: known.past };
  const parts = participle.endsWith('ed') ? takeApart(participle) : null;
  return parts === null ? null : { present: presentOf(parts.infinitive), past: participle };
}
