/** The kind of value in a cell. Cells of one attribute are of one kind, cells of one thing of several. */
import { memoised } from '../memoised.js';

export type CellKind = 'any' | 'money' | 'percent' | 'time' | 'date' | 'flag' | 'count' | 'quantity' | 'code' | 'text';

const known = new Map<string, CellKind>();

/** "any" is a word that can stand for every value, such as "none" or a dash. */
export function kindOfCell(cell: string): CellKind {
  return memoised(known, cell, () => kinds.find(([, pattern]) => pattern.test(cell))?.[0] ?? 'text');
}

const number = "[-−±+~≈<>≤≥]? ?\\d+(?:[.,'’ ]\\d+)*";
const currency = '(?:[$€£¥₹]|(?:US|AU?|CA?|NZ|HK)\\$)';
const code = '(?:USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|euros?|dollars?|pounds?|francs?)';
/** "9.30" alone is more often a number. */
const clock = '(?:\\d{1,2}:\\d{2}(?: ?[ap]\\.?m\\.?)?|\\d{1,2}(?:\\.\\d{2})? ?[ap]\\.?m\\.?|noon|midnight)';
const loose = '\\d{1,2}(?:[:.]\\d{2})?(?: ?[ap]\\.?m\\.?)?';
const months = 'January February March April May June July August September October November December'.split(' ');
const month = `(?:${months.map((name) => `${name.slice(0, 3)}(?:${name.slice(3)})?`).join('|')}|Sept)\\.?`;
const weekday =
  '(?:Mon(?:day)?|Tue(?:s|sday)?|Wed(?:nesday)?|Thu(?:r|rs|rsday)?|Fri(?:day)?|Sat(?:urday)?|Sun(?:day)?)s?\\.?';
const days = `(?:${weekday}(?: ?(?:-|–|to|and|&|,|/) ?${weekday})*|weekdays?|weekends?|daily|(?:public )?holidays?)`;
const dates = [
  '\\d{4}-\\d{2}-\\d{2}',
  '\\d{1,2}[./]\\d{1,2}[./]\\d{2,4}',
  `\\d{1,2}(?:st|nd|rd|th)? (?:of )?${month}(?:,? \\d{4})?`,
  `${month} \\d{1,2}(?:st|nd|rd|th)?(?:,? \\d{4})?`,
  `${month}(?: \\d{4})?`,
].join('|');

const kinds: readonly (readonly [CellKind, RegExp])[] = [
  ['any', /^(?:[-–—.…?]*|n\/?a|none|nil|not available|unlimited|tb[ac]|closed|free)$/iu],
  ['flag', /^(?:yes|no|true|false|[✓✔✗✘☑☐xX]|included|optional)$/iu],
  ['money', new RegExp(`^(?:\\p{L}+ ){0,2}(?:${currency} ?|${code} )${number}`, 'iu')],
  ['money', new RegExp(`^(?:\\p{L}+ ){0,2}${number} ?(?:${currency}|${code}(?!\\p{L}))`, 'iu')],
  ['percent', new RegExp(`^${number} ?(?:%|per ?cent)`, 'u')],
  ['time', new RegExp(`^(?:${clock}|(?:from )?${loose} ?(?:-|–|to|until) ?${clock}|${loose} ?[–-] ?${loose})$`, 'iu')],
  ['date', new RegExp(`^(?:${days},? )?(?:${dates})$|^${days}$`, 'iu')],
  ['count', new RegExp(`^${number}$`, 'u')],
  ['code', /^(?=\S*\d)(?=\S*(?:\p{Lu}|[-_/]))[\p{L}\p{N}_/.-]+$/u],
  [
    'quantity',
    new RegExp(
      `^(?:(?:up to|about|from|over|under|max\\.?|min\\.?) )?${number} ?[\\p{L}°µ"″'′²³/·x× \\d.-]{1,20}$`,
      'iu',
    ),
  ],
];

/** The kind of all cells that say something, `null` if they are of several kinds, and "any" if none says anything. */
export function commonKind(cells: readonly string[]): CellKind | null {
  const told = [...new Set(cells.map(kindOfCell).filter((kind) => kind !== 'any'))];
  return told.length > 1 ? null : (told[0] ?? 'any');
}

/** How a sentence says a moment: "on Monday", "at 9:00", "in 2024". `null` if the label is no moment. */
export function momentOf(label: string): string | null {
  if (/^daily$/iu.test(label)) return 'daily';
  if (dayPattern.test(label)) return `on ${generalDay.test(label) ? label.toLowerCase() : label}`;
  if (monthPattern.test(label) || /^(?:1[89]|20)\d{2}$/u.test(label)) return `in ${label}`;
  if (datePattern.test(label)) return `on ${label}`;
  if (clockPattern.test(label)) return `at ${label}`;
  if (rangePattern.test(label)) return `from ${label.replace(/ ?[–-] ?/u, ' to ')}`;
  return seasonPattern.test(label) ? `in ${label}` : null;
}

const generalDay = /^(?:weekdays?|weekends?|(?:public )?holidays?)$/iu;
const dayPattern = new RegExp(`^${days}$`, 'iu');
const monthPattern = new RegExp(`^${month}(?: \\d{4})?$`, 'u');
const datePattern = new RegExp(`^(?:${days},? )?(?:${dates})$`, 'iu');
const clockPattern = new RegExp(`^${clock}$`, 'iu');
const rangePattern = new RegExp(`^${loose} ?[–-] ?${clock}$`, 'iu');
const seasonPattern = /^(?:spring|summer|autumn|winter|the (?:morning|afternoon|evening)|Q[1-4])$/iu;
