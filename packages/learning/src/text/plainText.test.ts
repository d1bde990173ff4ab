import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { plainText } from './plainText.js';

test('keys and values below a heading become sentences about what it names', () => {
  const passage = '## Tarn 3 espresso machine\n\n- **Maker:** Orlo Works\n- Weight: 8.4 kg\n* Colours: red and black\n';
  assert.deepEqual(sentences(passage), [
    'Tarn 3 espresso machine',
    'The maker of the Tarn 3 espresso machine is Orlo Works.',
    'The weight of the Tarn 3 espresso machine is 8.4 kg.',
    'The colours of the Tarn 3 espresso machine are red and black.',
  ]);
});

test('a heading such as "Specifications" goes on about the one above it; one that names nothing says nothing of its keys', () => {
  const passage = '# Harbour Pool\n\n## Key facts\n\n- Length: 50 metres\n\n## Prices\n\n- Adults: 6 euros\n';
  assert.deepEqual(sentences(passage), [
    'Harbour Pool',
    'Key facts',
    'The length of Harbour Pool is 50 metres.',
    'Prices',
    'Adults: 6 euros.',
  ]);
});

test('a first heading may be a bare name, but no plural and no question', () => {
  const subject = (heading: string): string | undefined => sentences(`# ${heading}\n- Seat: Ghent`)[1];
  assert.equal(subject('Velona'), 'The seat of Velona is Ghent.');
  assert.equal(subject('Prices'), 'Seat: Ghent.');
  assert.equal(subject('Where is Velona?'), 'Seat: Ghent.');
});

test('code keeps its marks, by which the patterns of spans know it', () => {
  const passage = 'Run `npm run build` first.';
  assert.equal(plainText(passage), passage);
});

test('a line before a list, and an item before nested ones, name what the keys belong to', () => {
  assert.deepEqual(sentences('The Lume Lamp:\n\n- Price: $86\n'), [
    'The Lume Lamp:',
    'The price of The Lume Lamp is $86.',
  ]);
  assert.deepEqual(sentences('- Birch:\n  - Floor: 2\n- Cedar:\n  - Floor: 3\n'), [
    'Birch:',
    'The floor of Birch is 2.',
    'Cedar:',
    'The floor of Cedar is 3.',
  ]);
});

test('lines of keys and values are said of the one that names something; what people say in turn is left alone', () => {
  assert.deepEqual(sentences('Product: Tarn 3\nPrice: $249\nWeight: 8.4 kg'), [
    'Product: Tarn 3.',
    'The price of Tarn 3 is $249.',
    'The weight of Tarn 3 is 8.4 kg.',
  ]);
  assert.deepEqual(sentences('- Name: Ola Nygaard\n- Job: pilot'), [
    'Name: Ola Nygaard.',
    'The job of Ola Nygaard is pilot.',
  ]);
  for (const passage of ['Anna: Hello\nBob: Good morning', 'Price: $249\nWeight: 8.4 kg', 'Name: Anna.\nBob: Hello.']) {
    assert.equal(plainText(passage), passage);
  }
});

test('days, and whole sentences after a colon, are no values of an attribute', () => {
  const passage =
    '# Harbour Pool\n- Monday: 9:00 to 17:00\n- Note: Bring a towel. Lockers are free.\n- Children swim free\n';
  assert.deepEqual(sentences(passage).slice(1), [
    'Monday: 9:00 to 17:00.',
    'Note: Bring a towel. Lockers are free.',
    'Children swim free.',
  ]);
});

test('a table says of each row what its head asks for', () => {
  const table = '| Room | Floor | Contact |\n|---|---|---|\n| Birch | 2 | Ola Nygaard |\n| Cedar | 3 | |\n';
  assert.deepEqual(sentences(table), [
    'The floor of Birch is 2.',
    'The contact of Birch is Ola Nygaard.',
    'The floor of Cedar is 3.',
  ]);
  const keyed = '# Tarn 3\n\n| Property | Value |\n|---|---|\n| Weight | 8.4 kg |\n';
  assert.deepEqual(sentences(keyed), ['Tarn 3', 'The weight of Tarn 3 is 8.4 kg.']);
});

test('questions and answers lose their labels where both occur', () => {
  assert.equal(plainText('Q: When does it open?\nA: At 7:00.'), 'When does it open?\nAt 7:00.');
  assert.equal(plainText('**Question:** When?\n**Answer:** Now.'), 'When?\nNow.');
  assert.equal(plainText('Plan A: wait.\nA: nothing else.'), 'Plan A: wait.\nA: nothing else.');
});

test('numbered items keep their numbers, and what stands below them', () => {
  const passage = '3. What we are.\n\n   We are a club.\n\n4. What we lend.\n\n   We lend seeds.';
  assert.deepEqual(sentences(passage), ['3. What we are.', 'We are a club.', '4. What we lend.', 'We lend seeds.']);
  assert.deepEqual(sentences('1. Tarn\n   - Works: 7\nQ: When was it built?\nA: 1987.'), [
    '1. Tarn.',
    'Works: 7',
    'When was it built?',
    '1987.',
  ]);
  assert.deepEqual(sentences('1. Unplug it.\n1. Wait.'), ['1. Unplug it.', '2. Wait.']);
});

test('text without structure stays as it is, to the last character', () => {
  const words = fc.stringMatching(/^[A-Za-z0-9$%,.;!?'"()*_ \n-]{0,200}$/u);
  const plain = words.filter((text) => !/^[\s>]*(?:[-+*#=_]|\d+[.)])|[*_]|^[-=]+\s*$/mu.test(text));
  fc.assert(fc.property(plain, (text) => assert.equal(plainText(text), text)));
  assert.equal(
    plainText('5 * 3 is 15, and 2 * 4 is 8; call snake_case_name.'),
    '5 * 3 is 15, and 2 * 4 is 8; call snake_case_name.',
  );
});

test('no word is lost, whatever is put together', () => {
  const word = fc.constantFrom('Tarn', 'price', 'weight', '8.4', 'kg', 'Orlo', 'Works', 'red', 'pool', '1987');
  const phrase = fc.array(word, { minLength: 1, maxLength: 5 }).map((words) => words.join(' '));
  const block = fc.oneof(
    phrase.map((text) => `# ${text}`),
    phrase.map((text) => `${text}.`),
    phrase.map((text) => `${text}:`),
    fc
      .array(fc.tuple(phrase, phrase), { minLength: 1, maxLength: 4 })
      .map((pairs) => pairs.map(([a, b]) => `- **${a}:** ${b}`).join('\n')),
    fc
      .array(phrase, { minLength: 1, maxLength: 4 })
      .map((items) => items.map((item, at) => `${at + 1}. ${item}\n   - ${item}: 7`).join('\n')),
    fc.tuple(phrase, phrase).map(([a, b]) => `Q: ${a}?\nA: ${b}.`),
    phrase.map((text) => `> ${text}`),
    phrase.map((text) => `\`\`\`\n${text}\n\`\`\``),
  );
  fc.assert(
    fc.property(fc.array(block, { minLength: 1, maxLength: 6 }), fc.constantFrom('\n', '\n\n'), (blocks, gap) => {
      const passage = blocks.join(gap);
      const given = new Set(
        plainText(passage)
          .toLowerCase()
          .match(/[\p{L}\p{N}.]*[\p{L}\p{N}]/gu),
      );
      const labels = new Set(['q', 'a']);
      const wanted = passage.toLowerCase().match(/[\p{L}\p{N}.]*[\p{L}\p{N}]/gu) ?? [];
      for (const each of wanted)
        assert.ok(given.has(each) || labels.has(each) || /^\d$/u.test(each), `${each} is lost`);
    }),
  );
});

test('a table that would fill a book when said is left as it is', () => {
  const columns = 500;
  const row = (cell: string): string => `|${`${cell}|`.repeat(columns)}`;
  const table = `${row('h')}\n${row('-')}\n|${'x'.repeat(9000)}${row('1')}`;
  assert.equal(plainText(table), table);
});

test('nested quotes by the thousand are left as they are', () => {
  const passage = `- ${'> '.repeat(7_000)} x`;
  assert.equal(plainText(passage), passage);
});

function sentences(passage: string): string[] {
  return plainText(passage)
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => line.trim());
}

test('records that follow each other are each said of their own', () => {
  const said = [
    'Name: Ada Kell.',
    'The role of Ada Kell is Director.',
    'Name: Bo Lind.',
    'The role of Bo Lind is Treasurer.',
  ];
  assert.deepEqual(sentences('- Name: Ada Kell\n- Role: Director\n\n- Name: Bo Lind\n- Role: Treasurer\n'), said);
  assert.deepEqual(sentences('Name: Ada Kell\nRole: Director\nName: Bo Lind\nRole: Treasurer'), said);
});

test('people are no attributes, and a column that counts names nothing', () => {
  assert.deepEqual(sentences('# Minutes of 5 May\n\n- Ada: buy paint\n'), ['Minutes of 5 May', 'Ada: buy paint.']);
  const table = '| # | Name | Role |\n|---|---|---|\n| 1 | Ada Kell | chair |\n| 2 | Bo Lind | clerk |\n';
  assert.deepEqual(sentences(table), ['The role of Ada Kell is chair.', 'The role of Bo Lind is clerk.']);
});

test('a heading of a part names nothing, however it is written', () => {
  for (const heading of ['Technical Specifications', '3. Installation', 'Contact Information', '2.1 Key Features']) {
    const passage = `# Tarn 3 espresso machine\n\n## ${heading}\n\n- Weight: 8.4 kg\n`;
    assert.equal(sentences(passage)[2], 'The weight of the Tarn 3 espresso machine is 8.4 kg.');
  }
});

test('what stands between marks of code is not changed', () => {
  for (const code of ['`__init__`', '`*.txt,*.md`', '`[a](b)`'])
    assert.equal(plainText(`Use ${code} here.`), `Use ${code} here.`);
});

test('the box of a checklist stands before an item, and before no key', () => {
  const list = '- [x] Weight: 8.4 kg\n- [ ] Price: $20\n- [x] book the hall\n- [ ] Chairs\n  - Weight: 2 kg';
  assert.equal(
    plainText(`# Tarn 3\n\n${list}`).replace(/\n+/gu, '\n'),
    [
      'Tarn 3',
      'The weight of Tarn 3 is 8.4 kg.',
      'The price of Tarn 3 is $20.',
      '[x] book the hall.',
      '[ ] Chairs.',
      'The weight of the chairs is 2 kg.',
    ].join('\n'),
  );
  assert.equal(plainText('- [x] Read it\n\n- [ ] Sign it'), '[x] Read it.\n[ ] Sign it.');
});

test('line ends of Windows are line ends', () => {
  assert.deepEqual(sentences('# Tarn 3\r\n\r\n- Weight: 8.4 kg\r\n'), ['Tarn 3', 'The weight of Tarn 3 is 8.4 kg.']);
});

test('a sentence that is broken into lines is one again; lines that are no such sentences stay', () => {
  const wrapped =
    'The mill of Varn was built in 1803 by the carpenter\nOla Brandt and grinds forty tonnes of barley every\nyear. It opens on Sundays.\n\nNew text.';
  assert.equal(
    plainText(wrapped),
    'The mill of Varn was built in 1803 by the carpenter Ola Brandt and grinds forty tonnes of barley every year. It opens on Sundays.\n\nNew text.',
  );
  for (const lines of [
    'Ada Kell\n12 Mill Lane\nVarn',
    'The first of these lines is wide enough for it\nBut nothing goes on in lower case\nAnd so they are a list of some kind',
    '```\na line of code that is wide enough to be wrapped\nand goes on\n```',
  ])
    assert.equal(plainText(lines), lines);
});

test('a number at the beginning or the end of a broken line stays in its sentence', () => {
  const wrapped =
    'The hall is let by the day, for a price that the members of\n$249 a year do not pay. The first lamp of the company was sold in \n1987. In all, the share of those who came back was exactly 35%\nof them: more than ever.';
  assert.equal(
    plainText(wrapped),
    'The hall is let by the day, for a price that the members of $249 a year do not pay. The first lamp of the company was sold in 1987. In all, the share of those who came back was exactly 35% of them: more than ever.',
  );
});

test('a byte order mark before a heading costs the passage nothing', () => {
  assert.deepEqual(sentences('\uFEFF# Tarn 3\n\n- Weight: 8.4 kg\n'), ['Tarn 3', 'The weight of Tarn 3 is 8.4 kg.']);
});

test('a page-long heading takes no time', () => {
  const heading = `${'word '.repeat(1_500)}9`;
  assert.match(plainText(`# ${heading}\n\n${'- a: b\n'.repeat(200)}`), /a: b\./u);
});

test('tables of HTML, of spreadsheets and of Markdown are said alike', () => {
  const said = [
    'The floor of Birch is 2.',
    'The contact of Birch is Ola Nygaard.',
    'The floor of Cedar is 3.',
    'The contact of Cedar is Pia Stenberg.',
  ];
  for (const table of [
    '| Room | Floor | Contact |\n|---|---|---|\n| Birch | 2 | Ola Nygaard |\n| Cedar | 3 | Pia Stenberg |',
    'Room\tFloor\tContact\nBirch\t2\tOla Nygaard\nCedar\t3\tPia Stenberg',
    '\uFEFFRoom;Floor;Contact\r\nBirch;2;Ola Nygaard\r\nCedar;3;Pia Stenberg\r\n',
    'Room,Floor,Contact\nBirch,2,Ola Nygaard\nCedar,3,"Pia Stenberg"',
    '<table><tr><th>Room</th><th>Floor</th><th>Contact</th></tr><tr><td>Birch</td><td>2</td><td>Ola&nbsp;Nygaard</td></tr><tr><td>Cedar</td><td>3</td><td>Pia Stenberg</td></tr></table>',
  ])
    assert.deepEqual(sentences(table), said, table);
});

test('an item that introduces others is a thing, a value of several, or a part of the subject', () => {
  assert.deepEqual(
    sentences(
      '- Fees\n  - Adults: 6 euros\n  - Children: 3 euros\n- Lessons\n  - Date: 4 May\n  - Judo at 18:00\n  - Bring a towel\n- Meals\n  - Supper: 19:30\n',
    ),
    [
      'Fees.',
      'The fees for adults are 6 euros.',
      'The fees for children are 3 euros.',
      'Lessons.',
      'The date of the lessons is 4 May.',
      'Judo is at 18:00.',
      'Lessons: Bring a towel.',
      'Meals.',
      'Supper is at 19:30.',
    ],
  );
});

test('the first line names what lines of keys and values below it are about', () => {
  assert.deepEqual(sentences('ORLO T4 KETTLE: TECHNICAL DATA\n\nMax. power: 2,000 W\nSize (W x H): 20 x 30 cm\n'), [
    'Orlo T4 Kettle',
    'The max. power of Orlo T4 Kettle is 2,000 W.',
    'The size (W x H) of Orlo T4 Kettle is 20 x 30 cm.',
  ]);
});

test('a changelog says when a version came', () => {
  assert.deepEqual(sentences('## [2.4.0] - 2024-05-06\n\n- Tabs\n'), [
    'Version 2.4.0 was released on 2024-05-06.',
    'Tabs.',
  ]);
});
