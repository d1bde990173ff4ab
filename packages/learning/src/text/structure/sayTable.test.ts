import assert from 'node:assert/strict';
import test from 'node:test';
import { orientationOf } from './orientation.js';
import { isAttribute } from '../english/attributeWords.js';
import { sayTable } from './sayTable.js';
import { tableOf } from './table.js';

function table(...lines: readonly string[]) {
  const [heads = [], ...rows] = lines.map((line) => line.split('|').map((cell) => cell.trim()));
  return tableOf(heads, rows);
}

function sentencesOf(lines: readonly string[], caption = '', subject: string | null = null): string[] {
  return sayTable(table(...lines), { subject, caption }).map(({ text }) => text);
}

const kindOf = (...lines: readonly string[]): string => orientationOf(table(...lines), isAttribute).kind;

test('properties in rows and products in columns are said of the products', () => {
  assert.deepEqual(
    sentencesOf([
      'Feature | Basic | Pro',
      'Price per month | $9 | $29',
      'Projects | 3 | 50',
      'Support | e-mail | phone',
    ]),
    [
      'The price per month of Basic is $9.',
      'The projects of Basic are 3.',
      'The support of Basic is e-mail.',
      'The price per month of Pro is $29.',
      'The projects of Pro are 50.',
      'The support of Pro is phone.',
    ],
  );
});

test('what a sentence tells stands in it, also where the cell is a moment', () => {
  const said = sayTable(table('Pass | First | Second', 'Adult | Weekdays | Weekends', 'Child | Weekends | Weekdays'), {
    subject: null,
    caption: '',
  });
  assert.equal(said[0]?.text, 'For Adult the first is on weekdays.');
  for (const { text, told } of said) assert.ok(told !== null && text.includes(told.answer), text);
});

test('the kinds of the cells tell the way round, whatever the heads are', () => {
  for (const corner of ['', 'Feature', 'Plan', 'Xyzzy']) {
    assert.equal(
      kindOf(`${corner} | Ab | Cd`, 'Efg | $9 | $29', 'Hij | 3 kg | 4 kg', 'Klm | red | blue'),
      'things_in_columns',
    );
    assert.equal(
      kindOf(`${corner} | Efg | Hij | Klm`, 'Ab | $9 | 3 kg | red', 'Cd | $29 | 4 kg | blue'),
      'things_in_rows',
    );
  }
});

test('where all cells are of one kind the words tell, and where they do not the cell belongs to both', () => {
  assert.equal(kindOf('Plan | Price | Setup fee', 'Basic | $9 | $1', 'Pro | $29 | $2'), 'things_in_rows');
  assert.equal(kindOf('| Basic | Pro', 'Price | $9 | $29', 'Setup fee | $1 | $2'), 'things_in_columns');
  assert.equal(
    kindOf('Country | Capital | Speech', 'Peru | Lima | Spanish', 'Japan | Tokyo | Japanese'),
    'things_in_rows',
  );
  assert.deepEqual(sentencesOf(['Ticket | Day | Week', 'Bus | €2 | €9', 'Tram | €3 | €11'], 'Fares'), [
    'The day fare for Bus is €2.',
    'The week fare for Bus is €9.',
    'The day fare for Tram is €3.',
    'The week fare for Tram is €11.',
  ]);
});

test('one column of values is said of its head where that names something', () => {
  for (const corner of ['', 'Property'])
    assert.deepEqual(sentencesOf([`${corner} | Tarn 3`, 'Weight | 8 kg', 'Maker | Orlo']), [
      'The weight of Tarn 3 is 8 kg.',
      'The maker of Tarn 3 is Orlo.',
    ]);
});

test('rows without values, and a table of one column, lose no word', () => {
  const fares = ['Ticket | Day | Week', 'Land | | ', 'Bus | €2 | €9', 'Tram | €3 | €11'];
  assert.equal(sentencesOf(fares, 'Fares')[0], 'Land.');
  assert.deepEqual(sentencesOf(['Day', 'Monday', 'Friday']), ['Monday.', 'Friday.']);
});

test('what products have or have not is said of them', () => {
  assert.deepEqual(sentencesOf(['| Basic | Pro', 'Export | no | yes', 'Search | ✓ | ✓']), [
    'The export of Basic is no.',
    'The search of Basic is yes.',
    'The export of Pro is yes.',
    'The search of Pro is yes.',
  ]);
});

test('an empty first head and days above the columns', () => {
  assert.deepEqual(
    sentencesOf(
      ['| Saturday | Sunday', 'Shop | 9:00–17:00 | closed', 'Bakery | 7:00–13:00 | 8:00–11:00'],
      'Opening hours',
    ),
    [
      'Shop is open on Saturday from 9:00 to 17:00.',
      'Shop is closed on Sunday.',
      'Bakery is open on Saturday from 7:00 to 13:00.',
      'Bakery is open on Sunday from 8:00 to 11:00.',
    ],
  );
  assert.deepEqual(sentencesOf(['Day | Lunch | Supper', 'Monday | soup | bread', 'Tuesday | rice | eggs']), [
    'The lunch on Monday is soup.',
    'The supper on Monday is bread.',
    'The lunch on Tuesday is rice.',
    'The supper on Tuesday is eggs.',
  ]);
});

test('times of day are no hours of opening', () => {
  assert.deepEqual(sentencesOf(['Stop | First tram | Last tram', 'Quay | 5:40 | 23:10', 'Mill | 5:52 | 23:22']), [
    'For Quay the first tram is at 5:40.',
    'For Quay the last tram is at 23:10.',
    'For Mill the first tram is at 5:52.',
    'For Mill the last tram is at 23:22.',
  ]);
});

test('a timetable says what there is when, and when each thing is', () => {
  const wanted = [
    'On Monday at 9:00 there is yoga.',
    'On Tuesday at 9:00 there is judo.',
    'On Tuesday at 11:00 there is yoga.',
    'Yoga is on Monday at 9:00 and on Tuesday at 11:00.',
    'Judo is on Tuesday at 9:00.',
  ];
  assert.deepEqual(sentencesOf(['Time | Monday | Tuesday', '9:00 | yoga | judo', '11:00 | – | yoga']), wanted);
  assert.deepEqual(sentencesOf(['| 9:00 | 11:00', 'Monday | yoga |', 'Tuesday | judo | yoga']), wanted);
  assert.equal(
    sentencesOf(['Time | Room A | Room B', '9:00 | yoga | judo', '10:00 | chess | tea'])[0],
    'At 9:00 in Room A there is yoga.',
  );
});

test('what a row is called is found behind numbers, codes and times', () => {
  assert.deepEqual(sentencesOf(['Code | Item | Price', 'TX-1 | Steel gasket | €3', 'TX-2 | Water pump | €40']), [
    'The code of the steel gasket is TX-1.',
    'The price of the steel gasket TX-1 is €3.',
    'The code of the water pump is TX-2.',
    'The price of the water pump TX-2 is €40.',
  ]);
  assert.deepEqual(
    sentencesOf(['Time | Talk | Speaker', '9:00 | Bridges of Varn | Ada Kell', '10:00 | Mills at Sea | Bo Lind']),
    [
      'Bridges of Varn is at 9:00.',
      'The speaker of Bridges of Varn is Ada Kell.',
      'Mills at Sea is at 10:00.',
      'The speaker of Mills at Sea is Bo Lind.',
    ],
  );
});

test('keys and values of one thing are said of what the table is about', () => {
  const lines = ['Property | Value', 'Weight | 8 kg', 'Maker | Orlo'];
  assert.deepEqual(sentencesOf(lines, '', 'Tarn 3'), ['The weight of Tarn 3 is 8 kg.', 'The maker of Tarn 3 is Orlo.']);
  assert.deepEqual(sentencesOf(lines), ['Weight: 8 kg.', 'Maker: Orlo.']);
  assert.deepEqual(sentencesOf([' | ', 'Weight | 8 kg', 'Maker | Orlo'], '', 'Tarn 3'), [
    'The weight of Tarn 3 is 8 kg.',
    'The maker of Tarn 3 is Orlo.',
  ]);
});

test('each sentence that was made tells its value', () => {
  for (const lines of [
    ['Feature | Basic | Pro', 'Price | $9 | $29', 'Projects | 3 | 50'],
    ['| Saturday | Sunday', 'Shop | 9:00–17:00 | closed'],
    ['Time | Monday | Tuesday', '9:00 | yoga | judo'],
  ])
    for (const { text, told } of sayTable(table(...lines), { subject: null, caption: '' }))
      assert.ok(told !== null && text.includes(told.answer), text);
});

test('ranges of decimals are no hours, and decimals below "Time" name nothing', () => {
  const sizes = ['Size | Chest | Waist', 'Small | 1.50–1.75 | 1.00–1.20', 'Large | 1.80–2.00 | 1.30–1.50'];
  assert.equal(sentencesOf(sizes)[0], 'For Small the chest is 1.50–1.75.');
  assert.deepEqual(sentencesOf(['Time | Talk | Speaker', '9.00 | Bridges of Varn | Ada Kell']), [
    'The time of Bridges of Varn is 9.00.',
    'The speaker of Bridges of Varn is Ada Kell.',
  ]);
});

test('a first column that counts is left out, and numbers of things are told', () => {
  assert.deepEqual(sentencesOf(['No. | Dish | Price', '1 | Tarn soup | $9', '2 | Orlo pie | $12']), [
    'The price of the tarn soup is $9.',
    'The price of the orlo pie is $12.',
  ]);
  const numbered = sentencesOf(['No. | Dish | Price', '23 | Tarn soup | $9', '41 | Orlo pie | $12']).join(' ');
  for (const number of ['23', '41']) assert.ok(numbered.includes(number), numbered);
});
