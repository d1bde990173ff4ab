/** Texts to write as a JSON object, and the keys that it must have. */
export const objectTasks: readonly (readonly [text: string, keys: readonly string[]])[] = [
  ['Anna Berg is 34 years old and lives in Oslo.', ['name', 'age', 'city']],
  ['The red bicycle costs 250 euros.', ['item', 'colour', 'price']],
  ['The meeting is on Tuesday at 10:30.', ['day', 'time']],
  ['Tom ordered two cups of tea.', ['customer', 'drink', 'count']],
  ['Lake Mora is 12 kilometres long.', ['lake', 'length']],
  ['The book has 310 pages and was written by Ida Holm.', ['author', 'pages']],
  ['Flight 208 to Lisbon leaves from gate B4 at 14:20.', ['destination', 'gate', 'time']],
  ['Nora paid 18 dollars for a ticket.', ['name', 'amount']],
  ['The museum opens at 9:00 and closes at 17:00.', ['opens', 'closes']],
  ['Please send the parcel to Ivan Petrov in Riga.', ['recipient', 'city']],
  ['The cat Misha is 4 years old.', ['name', 'age']],
  ['Room 12 is on the second floor.', ['room', 'floor']],
  ['It is 23 degrees in Madrid today.', ['city', 'temperature']],
  ['The shirt is blue and costs 15 euros.', ['colour', 'price']],
  ['Lena called from Vienna on Monday.', ['caller', 'city', 'day']],
  ['The train to Bern takes 50 minutes.', ['destination', 'duration']],
];
