import type { AcceptedValue } from '@engraft/learning/parts';

/** A text to write as a JSON object, and the keys and values that the object must have. */
export type ObjectTask = readonly [text: string, values: Readonly<Record<string, AcceptedValue>>];

export const objectTasks: readonly ObjectTask[] = [
  ['Anna Berg is 34 years old and lives in Oslo.', { name: 'Anna Berg', age: '34', city: 'Oslo' }],
  ['The red bicycle costs 250 euros.', { item: 'bicycle', colour: 'red', price: '250' }],
  ['The meeting is on Tuesday at 10:30.', { day: 'Tuesday', time: '10:30' }],
  ['Tom ordered two cups of tea.', { customer: 'Tom', drink: 'tea', count: ['two', '2'] }],
  ['Lake Mora is 12 kilometres long.', { lake: ['Lake Mora', 'Mora'], length: '12' }],
  ['The book has 310 pages and was written by Ida Holm.', { author: 'Ida Holm', pages: '310' }],
  [
    'Flight 208 to Lisbon leaves from gate B4 at 14:20.',
    { destination: 'Lisbon', gate: 'B4', time: ['14:20', '2:20 pm'] },
  ],
  ['Nora paid 18 dollars for a ticket.', { name: 'Nora', amount: '18' }],
  ['The museum opens at 9:00 and closes at 17:00.', { opens: ['9:00', '9 am'], closes: ['17:00', '5 pm', '5:00 pm'] }],
  ['Please send the parcel to Ivan Petrov in Riga.', { recipient: 'Ivan Petrov', city: 'Riga' }],
  ['The cat Misha is 4 years old.', { name: 'Misha', age: '4' }],
  ['Room 12 is on the second floor.', { room: '12', floor: ['second', '2', '2nd'] }],
  ['It is 23 degrees in Madrid today.', { city: 'Madrid', temperature: '23' }],
  ['The shirt is blue and costs 15 euros.', { colour: 'blue', price: '15' }],
  ['Lena called from Vienna on Monday.', { caller: 'Lena', city: 'Vienna', day: 'Monday' }],
  ['The train to Bern takes 50 minutes.', { destination: 'Bern', duration: '50' }],
];
