/** Patterns of values: quantities, money, dates, times, codes and quotations. */
import type { SpanKind } from './spans.js';

const month = '(?:January|February|March|April|May|June|July|August|September|October|November|December)';
const day = '\\d{1,2}(?:st|nd|rd|th)?';
const weekday = '(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?)';
/** "Monday", "July". */
export const calendarWord = new RegExp(`^(?:${weekday}|${month})$`, 'u');
/** A short month counts only beside its day or before its year, since "Mar" is also a name. */
const shortMonth = '(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)(?![\\p{L}])\\.?';
/** "1,200", "1 000 000", "5'000", "5,00,000", "1.250,50", "1,5", "2 1/4", "1/2", "1.5", ".5", "3×10^8". */
const digits = `(?:${[
  '(?:\\d+(?:\\.\\d+)? ?[×x] ?)?10(?:\\^[-−]?\\d+|⁻?[¹²³⁰⁴-⁹]+)',
  '\\d+ \\d+[/⁄]\\d+',
  '\\d{1,3}(?:\\.\\d{3})+,\\d{1,2}(?!\\d)',
  '\\d{1,2}(?:,\\d{2})+,\\d{3}(?!\\d)',
  "\\d{1,3}(?:[ ,'’]\\d{3}(?!\\d))+(?:\\.\\d+)?",
  '\\d+,\\d{1,2}(?!\\d)',
  '\\d+[/⁄]\\d+',
  '(?:\\d+ ?)?[½¼¾⅓⅔⅛]',
  '\\d+(?:\\.\\d+)?',
  '(?<![\\p{L}\\d.)])\\.\\d+',
].join('|')})`;
const small =
  '(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-[a-z]+)?|(?:a )?dozen|(?:a )?(?:hundred|thousand|million|billion))';
const magnitude = '(?:\\s(?:hundred|thousand|million|billion|trillion))*';
/** "two hundred and fifty". */
const inWords = `${small}(?!\\p{L})${magnitude}(?:(?<=hundred|thousand|million|billion) (?:and )?${small}(?!\\p{L})${magnitude})*`;
/** "5", "5–7". */
const days = `${day}(?: ?[-–] ?${day}(?![\\d:]|\\.\\d| ?[ap]\\.?m\\b))?`;
const currency = '(?:(?<!\\p{L})(?:US|AU?|CA?|NZ|HK|S|R)(?=\\$))?[$€£¥₹]';
const currencyCode = '(?:USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR|SGD|HKD|KRW)';
/** The first part of a value that is a sign: "−" in "−2.3 %", but not the dash of "5–10" or "mid-1990". */
const sign = '(?:(?<![^\\s(])[-−–+±])?';
/** The first number of "5-10", "2.5–3.5" or "54.2 ± 8.1", which is one value with the second. */
const firstOfTwo = `${digits}(?:\\s?[%$€£¥₹])?[-–](?=[\\d.])|${digits} ?± ?(?=[\\d.])`;
/** The same with "to": "5 to 10", but not where something changes. */
const otherEnd = `(?:(?<!from )${digits} to (?=\\d)|${firstOfTwo})?`;
/** "1.2M", "3bn". */
const amount = `${digits}(?:[kKmMbB](?![\\p{L}\\d])|\\s?(?:bn|mn|tn)\\b)?`;
/** The rest of "m2", "cm3", "m3/h" and "m/s2" behind their letters. */
const plainPower = '(?:(?<=[\\s\\d/][cdkm]?[ms])[23](?:/\\p{L}{1,4})?(?![\\p{L}\\p{N}]))';
/** "20kg", "2.4GHz", "100km/h". */
const gluedUnit = `(?:(?:°[CF]?|\\p{L}{1,4}(?:/\\p{L}{1,3})?(?:[²³]|${plainPower})?)(?![\\p{L}\\p{N}]))`;
/** "350k users", "3rd floor". */
const gluedCount = '(?:(?:k|st|nd|rd|th)(?![\\p{L}\\p{N}]))';

const hour = `(?:\\d{1,2}|${small})`;
const halfPast = `(?:half past|(?:a )?quarter (?:past|to)|(?:five|ten|twenty) (?:past|to)) ${hour}\\b`;

const ordinal =
  '(?:(?:twenty-|thirty-)?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)|(?:ten|eleven|(?:thir|four|fif|six|seven|eigh|nine)teen)th|twelfth|twentieth|thirtieth)';
const oneToTwelve = '(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)';
const clock = `(?:\\d{1,2}(?:[:.]\\d{2})?(?:\\s?[ap]m\\b|\\s?[ap]\\.m\\.)?(?!,?\\d|\\s?[%°€$])|${oneToTwelve}(?: o[’']clock)?(?![\\p{L}\\d-])|half past ${hour}\\b|noon\\b|midnight\\b)`;
const amOrPm = '\\s?(?:[ap]m\\b|[ap]\\.m\\.)';
const onDial = '\\d{1,2}(?:[:.]\\d{2})?';
const hourAndMinute = '\\d{1,2}:\\d{2}';
/** "6–7:30 pm", "8 a.m.–6 p.m.", "9:00-17:00". */
const clocks = `(?<![\\p{L}\\d:.,\\p{Sc}-])(?:${[
  `${onDial}(?:${amOrPm})?(?:\\s?[-–]\\s?| to )${onDial}${amOrPm}`,
  `${hourAndMinute}\\s?[-–]\\s?${hourAndMinute}(?![\\d:])`,
].join('|')})`;
/** "1:12" is a ratio behind such words. */
const ratioBefore = '\\b(?:scale|ratio|odds|proportions?|gradient|slope|mix|mixed|dilut\\p{Ll}+)\\b[^.;]{0,24} ';
const partOfDay = '(?:in the (?:morning|afternoon|evening)|at night)';
/** Tells a time of day from other numbers, anywhere in a range of two. */
const clockMark = `(?=[^.;,]{0,24}(?:[ap]\\.?m\\b|\\d:\\d|o[’']clock|noon|midnight|half past|${partOfDay}))`;
const isMoved =
  '(?<!\\b(?:moved|postponed|shifted|rescheduled|changed|brought forward|put off)(?: \\p{L}+){0,4}? from )';

const fraction =
  '(?:a|one|two|three|four|five|seven|nine) (?:half|halves|thirds?|quarters?|fifths?|sixths?|sevenths?|eighths?|ninths?|tenths?)';
export const isFraction = new RegExp(`^${fraction}$`, 'iu');

const everyUnit =
  '(?:a|an|each|every|per) (?:minute|hour|day|night|week|fortnight|month|quarter|season|term|year|decade)\\b';

/** "120 x 80 cm", "30 cm x 20 cm x 10 cm", "5' x 8'". */
const length =
  '(?: ?(?:[mck]?m|in|ft|yd|px|inch(?:es)?|feet|foot|yards?|pixels?|\\p{Ll}*met(?:re|er)s?)(?!\\p{L})|["\'″′])';
const extent = `${digits}${length}?(?: ?[x×] ?(?!10[\\^⁻¹²³⁰⁴-⁹])${digits}${length}?){1,2}(?![\\p{L}\\d])`;
/** "5 ft 11 in", "2 h 30 min", "3 lb 4 oz": one value in two units. */
const compound = (units: string, parts: string): string => `\\d+ ?${units} ?\\d+(?:\\.\\d+)? ?${parts}`;
const inParts = [
  compound("(?:ft|feet|foot|['′])", '(?:in(?:ch|ches)?(?![\\p{L}-])|["″])'),
  compound('(?:lbs?|pounds?)', '(?:oz|ounces?)(?!\\p{L})'),
  compound('(?:h|hrs?|hours?)', '(?:m|mins?|minutes?)(?!\\p{L})(?: ?\\d+ ?(?:s|secs?|seconds?)(?!\\p{L}))?'),
  compound('(?:mins?|minutes?)', '(?:s|secs?|seconds?)(?!\\p{L})'),
].join('|');
const measure = `(?:${extent}|${inParts})`;
export const isMeasure = new RegExp(`^${measure}$`, 'u');

/**
 * Phone numbers with a country code, with an area code that begins with 0 or stands in brackets, or in the American
 * form.
 */
const phone = [
  '\\+\\d{1,3}(?:[ .-]?\\(\\d{1,5}\\))?(?:[ ./-]?\\d{2,}){2,5}',
  '(?:\\(0[1-9]\\d{0,3}\\) ?|0[1-9]\\d{0,4}[ /-])\\d{3,}(?:[ -]\\d{2,})*',
  '\\(0\\)\\d{1,4}(?:[ -]\\d{2,}){2,}',
  '(?:1[ .-])?(?:\\(\\d{3}\\) ?|\\d{3}[ .-])\\d{3}[.-]\\d{4}',
].join('|');
export const phonePattern = new RegExp(`^(?:${phone}|\\d{3}-\\d{4})$`, 'u');
/** A postcode, and "ABCD 123456-7", "AB 123 4567 89". */
const inGroups = [
  // "M2 8GB" is none.
  '[A-Z]{1,2}\\d[A-Z\\d]? \\d(?![GT]B)[ABD-HJLNP-UW-Z]{2}',
  '[A-Z]{2,5} \\d{5,}-\\d+',
  `(?!${currencyCode})[A-Z]{2,3}(?: \\d{2,4}){3,}`,
  '\\d{5}-\\d{4}',
].join('|');
const account = '[A-Z]{2}\\d{2}(?: [\\dA-Z]{4}){3,7}(?: [\\dA-Z]{1,3})?';

/** The sign of a number, and the other end of a range. */
const signed = '(?:[-−±]|(?<![^\\s(])\\+)?';
const ahead = `(?:(?<!from )${signed}${digits}(?: ?°[CF]?)? to (?=[-−+]?\\d)[-−+]?|${signed}(?:${firstOfTwo})?)`;
const counted = `(?:${digits}${gluedCount}?${magnitude}(?![\\p{L}\\d°]|[.,/]\\d)|${inWords})`;
/** A unit makes four digits a number and no year. The initial in "In 1942 W. Kell" is no unit. */
const measureUnit =
  ' ?(?:IU|[kmµ]?[gmlLWVJ]|cm|[kMG]W|mAh|[kMG]?Hz|[kMG]B|rpm|hPa|kcal|sq\\.? ?(?:ft|m))(?:/\\p{L}+)?' +
  "(?![\\p{L}\\p{N}’']|\\. ?\\p{Lu})";
const ofUnit =
  '(?:square|cubic|light|metric|nautical|sq\\.?|cu\\.?|different|new|small|large|big|old|young|full|extra)';
/** "kilometres", "square metres", "mg/l": the unit or the thing behind a number. */
const thing = `(?:[ -](?:${ofUnit} )?(?:\\p{Ll}|°)[\\p{L}°/²³⁻¹⁴]*${plainPower}?(?:\\([A-Z]\\)(?!\\p{L}))?)?`;
/** The other end of "$5–$10". */
const secondAmount = `(?:(?:[-–]| ?± ?)(?:${currency})?${amount})?`;

/** The order matters: later patterns leave alone what earlier ones took. */
export const valuePatterns: readonly (readonly [SpanKind, RegExp])[] = [
  ['quantity', new RegExp(`(?<![\\p{L}\\d.,:/'’-])${measure}`, 'gu')],
  ['code', /\b(?:https?:\/\/|www\.)[^\s<>"'“”()[\]]*[\p{L}\p{N}/]/gu],
  ['quotation', /[“"]([^\s“”"][^“”"]{0,58}[^\s“”"])[”"]/gu],
  ['code', /(?<![\p{L}\p{N}])[\w.+-]+@[\w-]+(?:\.[\w-]+)+/gu],
  ['code', /(?<=`)[^`\n]{2,40}(?=`)|(?<![\p{L}\p{N}])(?:\/[\w.-]+){2,}|\b\p{Ll}\w*_\w+\b/gu],
  ['code', new RegExp(`(?<![\\p{L}\\d.,+-]|\\d )(?:${phone}|${account})(?![\\p{L}\\d]|[.,/-]\\d)`, 'gu')],
  ['code', new RegExp(`(?<![\\p{L}\\p{N}]|\\d[ .,-])(?:${inGroups})(?![\\p{L}\\d]|[.,/-]\\d)`, 'gu')],
  // As accounts write a loss.
  ['money', new RegExp(`${currency}\\(${amount}\\)${magnitude}`, 'gu')],
  ['money', new RegExp(`\\b${currencyCode} \\d{1,3}(?:\\.\\d{3})+(?:,\\d+)?(?![\\d.,]*\\d)`, 'gu')],
  ['money', new RegExp(`(?<![\\d.,])\\d{1,3}(?:\\.\\d{3}){2,} ?(?:${currency}|${currencyCode}\\b|euros?\\b)`, 'gu')],
  ['date', /(?<![\d-])\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z\b|[+-]\d{2}:?\d{2})?(?![\d:])/gu],
  ['time', /(?<![\d:.])\d{1,2}:\d{2}:\d{2}(?![\d:])/gu],
  ['date', /(?<![\d.])\d{1,2}\.\d{1,2}\.(?:1\d|20)\d{2}(?![\d.]*\d)/gu],
  ['code', /\bv\d+(?:\.\d+)*\b|(?<![\d.,])\d+(?:\.\d+){2,}(?![\d.]*\d)/gu],
  ['date', new RegExp(`\\b${ordinal} of ${month}(?:,? \\d{4})?\\b`, 'gu')],
  [
    'date',
    new RegExp(
      `\\b(?:(?:${isMoved}${day} to )?${days} (?:of )?${month}(?:,? \\d{4})?|${month} ${days}(?!\\d)(?:,? \\d{4})?|` +
        `${month} \\d{4}|\\d{4}-\\d{2}-\\d{2}|\\d{1,2}/\\d{1,2}/\\d{2,4})\\b`,
      'gu',
    ),
  ],
  [
    'date',
    new RegExp(
      `(?<![\\p{L}\\d.,])(?:(?:${days} ${shortMonth}|${shortMonth} ${days}(?![\\d\\p{L}]))(?:,? \\d{4})?|` +
        `${shortMonth} (?:1\\d|20)\\d{2})(?![\\p{L}\\d])`,
      'gu',
    ),
  ],
  ['code', /(?<![\p{L}\d-])\d+(?:-\d+){3,}(?![\p{L}\d-])/gu],
  ['date', new RegExp(`${isMoved}\\b${weekday}(?:(?:, (?:and )?| and | or | to |–|-)${weekday})+(?!\\p{L})`, 'gu')],
  [
    'time',
    new RegExp(
      `\\b(?:between ${clockMark}${clock} and|from ${clockMark}${clock} (?:to|until)) ${clock}(?: ${partOfDay}\\b)?`,
      'giu',
    ),
  ],
  [
    'time',
    new RegExp(
      `(?<=\\b(?:at|until|till|by|from|before|after|around|about|past) )(?:\\d{1,2}(?:[:.]\\d{2})?|${oneToTwelve}|half past ${hour}) ${partOfDay}\\b`,
      'giu',
    ),
  ],
  ['time', new RegExp(clocks, 'giu')],
  ['time', /\b(?:noon|midnight)\b/gu],
  [
    'time',
    new RegExp(
      `\\b${onDial}${amOrPm}|\\b\\d{2}:\\d{2}\\b|(?<!${ratioBefore})\\b\\d:[0-5]\\d\\b|` +
        "\\b(?:\\p{L}+|\\d{1,2}) o[’']clock\\b",
      'giu',
    ),
  ],
  ['time', new RegExp(`\\b${halfPast}`, 'giu')],
  // "Once" alone is mostly a conjunction, and "twice as much" is no frequency.
  ['quantity', new RegExp(`\\b(?:once|twice|thrice|(?:${digits}|${small}) times) ${everyUnit}`, 'giu')],
  ['quantity', /\b(?:twice|thrice)\b(?! as\b| the\b| \d)/giu],
  ['date', /\b(?:the )?\d{1,2}(?:st|nd|rd|th) century\b/gu],
  ['quantity', /(?<!from )\b\d+ (?:votes )?(?:to|out of) \d+\b(?!,?\d| \p{Ll}| ?[°%])/gu],
  ['quantity', new RegExp(`(?<!and )\\b${fraction}(?= of\\b|[.,;:!?)]|$)`, 'giu')],
  [
    'money',
    new RegExp(`${sign}(?:${currency}\\s?|\\b${currencyCode} )[-−]?${amount}${secondAmount}${magnitude}`, 'gu'),
  ],
  [
    'money',
    new RegExp(
      `(?<![\\p{L}\\d])${sign}${otherEnd}${digits}${magnitude}\\s?(?:${currency}(?!\\d)|${currencyCode}\\b)`,
      'gu',
    ),
  ],
  [
    'quantity',
    new RegExp(
      `(?<![\\p{L}\\p{N}_])${sign}${otherEnd}${digits}\\s?(?:%|percent\\b|per cent\\b|percentage points?\\b)`,
      'gu',
    ),
  ],
  ['code', /\b(?=[\p{L}\d-]*\d)(?=[\p{L}\d-]*\p{Lu})[\p{L}\d]+(?:-[\p{L}\d]+)*\b/gu],
  [
    'date',
    new RegExp(
      `(?:(?<!\\d-)|(?<=\\b(?:1\\d|20)\\d{2}-))\\b(?:1\\d{3}|20\\d{2})s?\\b(?![.,]\\d|-|${measureUnit})`,
      'gu',
    ),
  ],
  ['date', new RegExp(`\\b(?:${weekday}|${month})\\b`, 'gu')],
  ['quantity', new RegExp(`(?<![\\p{L}\\d])${ahead}(?:${counted}${thing}|${digits}${gluedUnit})`, 'giu')],
];

/** "twice", "once a week", "three times" say how often. */
export function isFrequency(quantity: string): boolean {
  return /^(?:once|twice|thrice)\b| times\b/iu.test(quantity);
}
