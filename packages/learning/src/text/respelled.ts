/** Dates, money, units and initials in one of the ways in which people write them. */

/**
 * As people also write it: without the marks of Latin letters ("Pelé") and the spaces between thousands, and with
 * dates, money, units and initials in one form. `normalise` keeps all these, since two answers of one passage may
 * differ in nothing else ("año" and "ano").
 */
export function respelled(text: string): string {
  const plain = text
    .normalize('NFD')
    .replace(/(?<=\p{Script=Latin})\p{M}+/gu, '')
    .normalize('NFC')
    .replace(/(?<![\d.,:]|\d )[1-9]\d{0,2}(?: \d{3})+(?!\d| \d)/gu, (groups) => groups.replaceAll(' ', ''))
    .replace(/(?<=(?<!\p{L})\p{Lu}\.) (?=\p{Lu}\.)/gu, '');
  return withUnits(withMoney(withDates(plain)));
}

const months = 'January February March April May June July August September October November December'.split(' ');
const month = `((?:${months.map((name) => `${name.slice(0, 3)}(?:${name.slice(3)}|t?\\.?)`).join('|')})(?!\\p{L}))`;
const day = '(\\d{1,2})(?:st|nd|rd|th)?';
const year = '(?:,? (\\d{4})(?!\\d))?';
const dayFirst = new RegExp(`(?<![\\p{L}\\d.,:–-])${day} (?:of )?${month}${year}`, 'gu');
const monthFirst = new RegExp(`(?<!\\p{L}|\\d )${month} ${day}(?!\\d|[.:–-]\\d|\\p{L})${year}`, 'gu');
const inDigits = /(?<![\d-])(\d{4})-(0[1-9]|1[0-2])-(\d{2})(?![\d-])/gu;

/** "3rd of May 2024", "May 3, 2024" and "2024-05-03" as "3 May 2024". */
function withDates(text: string): string {
  const date = (inMonth: string, ofMonth: string, inYear = ''): string => {
    const name = months.find((each) => each.startsWith(inMonth.slice(0, 3))) ?? inMonth;
    return `${String(Number(ofMonth))} ${name} ${inYear}`.trimEnd();
  };
  return text
    .replace(inDigits, (_date, y: string, m: string, d: string) => date(months[Number(m) - 1] ?? '', d, y))
    .replace(dayFirst, (_date, d: string, m: string, y?: string) => date(m, d, y))
    .replace(monthFirst, (_date, m: string, d: string, y?: string) => date(m, d, y));
}

const signs = new Map([
  ['USD', '$'],
  ['EUR', '€'],
  ['GBP', '£'],
  ['JPY', '¥'],
]);
const code = `(${[...signs.keys()].join('|')})`;
const codeBefore = new RegExp(`(?<!\\p{L})${code} ?(?=\\d)`, 'gu');
const codeBehind = new RegExp(`(?<=\\d) ?${code}(?![\\p{L}\\d])`, 'gu');
const magnitudes = new Map([
  ['k', 'thousand'],
  ['m', 'million'],
  ['mn', 'million'],
  ['b', 'billion'],
  ['bn', 'billion'],
]);
const shortMagnitude = /(?<=[$€£¥]\d+(?:[.,]\d+)*)(mn?|bn?|k)(?![\p{L}\d])/giu;

/** "EUR 20" as "€20", and "$3m" as "$3 million". */
function withMoney(text: string): string {
  const signOf = (_code: string, name: string): string => signs.get(name) ?? name;
  return text
    .replace(codeBefore, signOf)
    .replace(codeBehind, signOf)
    .replace(shortMagnitude, (letters) => ` ${magnitudes.get(letters.toLowerCase()) ?? letters}`);
}

const units = (
  [
    ['kilomet(?:re|er)s?', 'km'],
    ['met(?:re|er)s?', 'm'],
    ['centimet(?:re|er)s?', 'cm'],
    ['millimet(?:re|er)s?', 'mm'],
    ['kilo(?:gram)?s?', 'kg'],
    ['degrees? Celsius', '°C'],
    ['degrees? Fahrenheit', '°F'],
  ] as const
).map(([words, short]) => [new RegExp(`(?<=\\d )(?:${words})(?!\\p{L})`, 'giu'), short] as const);

/** "5 kilometres" as "5 km". */
function withUnits(text: string): string {
  return units.reduce((shortened, [words, short]) => shortened.replace(words, short), text);
}
