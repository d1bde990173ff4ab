import { numbersInDigits, sameAnswer } from '@engraft/learning/parts';

/** A value is right if it is this number, beside which a unit may stand, or one of these texts. */
export type ExpectedValue = number | readonly string[];

export type ExpectedValues = Readonly<Record<string, ExpectedValue>>;

/** Texts to write as a JSON object, and the keys and values that it must have. */
export const objectTasks: readonly (readonly [text: string, values: ExpectedValues])[] = [
  ['Anna Berg is 34 years old and lives in Oslo.', { name: ['Anna Berg'], age: 34, city: ['Oslo'] }],
  ['The red bicycle costs 250 euros.', { item: ['bicycle', 'red bicycle'], colour: ['red'], price: 250 }],
  ['The meeting is on Tuesday at 10:30.', { day: ['Tuesday'], time: ['10:30', '10:30 am'] }],
  ['Tom ordered two cups of tea.', { customer: ['Tom'], drink: ['tea', 'cups of tea', 'cup of tea'], count: 2 }],
  ['Lake Mora is 12 kilometres long.', { lake: ['Lake Mora', 'Mora'], length: 12 }],
  ['The book has 310 pages and was written by Ida Holm.', { author: ['Ida Holm'], pages: 310 }],
  [
    'Flight 208 to Lisbon leaves from gate B4 at 14:20.',
    { destination: ['Lisbon'], gate: ['B4', 'gate B4'], time: ['14:20', '2:20 pm'] },
  ],
  ['Nora paid 18 dollars for a ticket.', { name: ['Nora'], amount: 18 }],
  [
    'The museum opens at 9:00 and closes at 17:00.',
    { opens: ['9:00', '9:00 am', '9 am'], closes: ['17:00', '5:00 pm', '5 pm'] },
  ],
  ['Please send the parcel to Ivan Petrov in Riga.', { recipient: ['Ivan Petrov'], city: ['Riga'] }],
  ['The cat Misha is 4 years old.', { name: ['Misha'], age: 4 }],
  ['Room 12 is on the second floor.', { room: 12, floor: ['second', 'second floor', '2', '2nd', '2nd floor'] }],
  ['It is 23 degrees in Madrid today.', { city: ['Madrid'], temperature: 23 }],
  ['The shirt is blue and costs 15 euros.', { colour: ['blue'], price: 15 }],
  ['Lena called from Vienna on Monday.', { caller: ['Lena'], city: ['Vienna'], day: ['Monday'] }],
  ['The train to Bern takes 50 minutes.', { destination: ['Bern'], duration: 50 }],
];

/** Whether an object has all expected keys with right values. Others may stand beside them. */
export function hasValues(given: object, expected: ExpectedValues): boolean {
  const members = new Map<string, unknown>(Object.entries(given));
  return Object.entries(expected).every(([key, value]) => isExpected(members.get(key), value));
}

function isExpected(given: unknown, expected: ExpectedValue): boolean {
  if (typeof given !== 'string' && typeof given !== 'number') return false;
  const text = timesAlike(String(given));
  return typeof expected === 'number' ? onlyNumberIn(text) === expected : expected.some((one) => sameAnswer(text, one));
}

/** "07:00:00" and "7am" as "7:00" and "7 am". */
function timesAlike(text: string): string {
  return text
    .replace(/(?<![\d:])0(?=\d:\d\d)/gu, '')
    .replace(/(?<=\d:\d\d):00\b/gu, '')
    .replace(/(?<=\d)(?=[ap]\.?m\b)/giu, ' ');
}

/** The number of "€250", "34 years" or "two", `null` if there is none or a second one. */
function onlyNumberIn(text: string): number | null {
  const numbers = numbersInDigits(text.toLowerCase()).match(/\d+(?:\.\d+)?/gu) ?? [];
  return numbers.length === 1 ? Number(numbers[0]) : null;
}
