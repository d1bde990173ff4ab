/** Opening hours in a list: "Saturday: 8:00 - 20:00" below "What are the opening hours?". */
import { capitalised } from '../strings.js';
import { kindOfCell, momentOf } from './cellKinds.js';
import { asSentence, withArticle, type Said } from './said.js';

const hours =
  '(?:(?:opening|office|business|visiting|reception|kitchen|service|working|trading) )?hours|' +
  '(?:opening|visiting|business) times';
/** "What are the opening hours of the library?" asks for those that "Library hours" names. */
const asking = '(?:(?:what|which) (?:are|is) )?(?:the |your |our )?';
const named = new RegExp(
  `^${asking}(?<qualifier>(?:[\\p{L}\\p{N}&’'-]+ ){0,3}?)(?<measure>${hours})(?: (?:of|at|in|for) (?<place>[^?:.,]{2,40}))?[?:.]?$`,
  'iu',
);
/** "When can I open an account?" asks for no hours. */
const open = /^when (?:(?:is|are) (?<place>[^?:.,]{2,40}?) open|(?:do|does) (?<opener>[^?:.,]{2,40}?) open)\?$/iu;

interface Hours {
  /** "library hours". */
  readonly key: string;
  /** Whose hours. Empty if nothing says so, or the key does. */
  readonly place: string;
  /** Whether the key says which hours: "library" or "winter". */
  readonly isQualified: boolean;
}

/**
 * `null` if the item is no day with hours, or the line above speaks of no hours. `parent` is the heading around that
 * line, and may say whose hours they are.
 */
export function hoursIn(text: string, caption: string, parent: string | null): Said | null {
  const [, day = '', value = ''] = /^([^:\n]{3,40}): +([^\n]{3,40}?)\.?$/u.exec(text) ?? [];
  const [moment, hours] = [momentOf(day), hoursOf(caption, parent)];
  const isClosed = /^closed$/iu.test(value);
  if (moment === null || hours === null || !(isClosed || kindOfCell(value) === 'time')) return null;
  const answer = isClosed ? 'closed' : rangeInWords(value);
  const told = { kind: 'attribute', key: hours.key, subject: hours.place, noun: null, moment, answer } as const;
  return {
    text: asSentence(isClosed ? closedOn(moment, hours) : `The ${nameOf(hours)} ${moment} are ${answer}`),
    told,
  };
}

function nameOf({ key, place }: Hours): string {
  return place === '' ? key : `${key} of ${place}`;
}

function closedOn(moment: string, { key, place, isQualified }: Hours): string {
  if (isQualified) return `The ${nameOf({ key, place, isQualified })} ${moment} are: closed`;
  return place === '' ? `${capitalised(moment)} it is closed` : `${capitalised(place)} is closed ${moment}`;
}

/** The caption's own words for the hours and whose they are, or else those of the thing that the heading names. */
function hoursOf(caption: string, parent: string | null): Hours | null {
  const { qualifier = '', measure, place } = named.exec(caption)?.groups ?? {};
  const opened = open.exec(caption)?.groups;
  if (measure === undefined && opened === undefined) return null;
  const key = `${qualifier}${(measure ?? 'opening hours').toLowerCase()}`;
  const owner = place ?? opened?.['place'] ?? opened?.['opener'] ?? '';
  const isQualified = qualifier !== '';
  if (owner !== '' && !/^(?:you|we|it|they)$/iu.test(owner)) return { key, place: withArticle(owner), isQualified };
  const isNamed = parent !== null && !isQualified && !parent.endsWith('?') && !pages.test(parent);
  return { key, place: isNamed ? withArticle(parent) : '', isQualified };
}

/** Headings that say what a page is for rather than whose hours it tells. */
const pages =
  /^(?:help|support|home|home ?page|welcome|about\b.*|contact.*|visit.*|information|info|faqs?|.*\b(?:questions|hours))$/iu;

/** "from 9:00 to 17:00", which a reader takes as one value. */
export function rangeInWords(value: string): string {
  const [, from, to] =
    /^(\d{1,2}(?:[:.]\d{2})?(?: ?[ap]\.?m\.?)?) ?[–-] ?(\d{1,2}(?:[:.]\d{2})?(?: ?[ap]\.?m\.?)?)$/iu.exec(value) ?? [];
  return from === undefined || to === undefined ? value : `from ${from} to ${to}`;
}
