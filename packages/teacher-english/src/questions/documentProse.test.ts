import assert from 'node:assert/strict';
import test from 'node:test';
import { chunkPassage, readPassage } from '@engraft/learning/parts';
import { findCandidates, type Candidate } from './candidates.js';
import { isDocument, isOfItsWords } from './documentProse.js';

async function askedAbout(passage: string): Promise<(answer: string) => Candidate> {
  const { text, told } = readPassage(passage);
  const { candidates } = await findCandidates(text, chunkPassage(text, 1500), [], told);
  return (answer) => {
    const found = candidates.find(({ span }) => span.text === answer);
    assert.ok(found !== undefined, `${answer} is none of ${candidates.map(({ span }) => span.text).join()}`);
    return found;
  };
}

const prices = '| Boat | 1 hour | 1 day |\n|---|---|---|\n| R1 Canoe | $6 | $38 |\n| R2 Kayak | $4 | $17 |\n';

test('prose beside a table is asked about in its own words, not as if it spoke of a row', async () => {
  const find = await askedAbout(`# Boats at Lake Varn\n\n${prices}\nLost paddles are replaced by Ada Kell for $75.\n`);
  const { derived } = find('Ada Kell');
  assert.ok(derived.includes('Who replaces lost paddles?'), derived.join());
  for (const { keywords } of [find('$75'), find('Ada Kell')])
    assert.ok(keywords.length > 0 && !keywords.some((question) => /R1|R2|Canoe|Kayak/u.test(question)));
});

test('who made something is asked for with the active verb, also below a title', async () => {
  const find = await askedAbout(`# Orlo 3 Kettle\n\n- Price: $9\n- Weight: 2 kg\n\nDesigned by Bo Lind.\n`);
  assert.ok(find('Bo Lind').derived.includes('Who designed Orlo 3 Kettle?'), find('Bo Lind').derived.join());
});

test('a phone number is asked for by whom it reaches', async () => {
  const find = await askedAbout(`# Boats\n\n${prices}\nCall the boat house on (555) 014-2230.\n`);
  const { derived } = find('(555) 014-2230');
  assert.ok(derived.includes('What is the phone number of the boat house?'));
  assert.ok(derived.includes('Which number do I call for the boat house?'));
});

test('clauses are asked about without the name of the document, and with the heading above them', async () => {
  const find = await askedAbout(
    'GARDEN LEASE\n\nOwner: Ada Kell\nTenant: Bo Lind\n\n§ 1 Rent\n(1) The monthly rent is $850.\n' +
      "(2) A deposit of $900 is due.\n\n§ 2 Term\n(1) The lease begins on Mar 4, 2025.\n(2) It ends with a month's notice.\n",
  );
  assert.ok(find('$850').derived.includes('How much is the monthly rent?'));
  assert.ok(find('Mar 4, 2025').derived.includes('When does the lease begin?'));
  assert.ok(find('$900').keywords.some((question) => /\brent\b/u.test(question)));
});

test('an answer below a question is asked for in the words of that question', async () => {
  const find = await askedAbout('# Help\n\n**Can I freeze my card?**\nYes, for up to 3 months.\n');
  const { keywords } = find('3 months');
  assert.ok(keywords.length > 0 && keywords.every((question) => question.includes('freeze')), keywords.join());
});

test('prices, rules and instructions are asked about as people say them', async () => {
  const find = await askedAbout(
    `# Boats at Lake Varn\n\n${prices}\nA spare oar costs $12 and is kept in the hut. Life vests need a deposit, which is $30. ` +
      'Damage is reported to the Warden within 24 hours. On Sundays the ferry runs every 40 minutes. ' +
      'Up to 6 guests can sit in the R2. Boat R1 does not sail in winter.\n',
  );
  for (const [answer, question] of [
    ['$12', 'What is the price of a spare oar?'],
    ['$12', 'How much do I pay for a spare oar?'],
    ['$30', 'How much is the deposit?'],
    ['24 hours', 'How quickly must damage be reported?'],
    ['40 minutes', 'How often does the ferry run on Sundays?'],
    ['6 guests', 'What is the largest number of guests?'],
  ] as const)
    assert.ok(find(answer).derived.includes(question), `${question} is none of ${find(answer).derived.join(' ')}`);
});

test('what stands below a question is asked for by what that asks about', async () => {
  const find = await askedAbout(
    '# Help\n\n## How do I book the hut?\nWrite to Ada Kell at least 10 days ahead.\n\n' +
      '## Can I freeze my card?\nYes, for up to 3 months. It costs $5.\n\n' +
      '## What does it cost?\nA whole day is $220, and every extra hour costs $25.\n',
  );
  assert.ok(find('Ada Kell').derived.includes('Who do I write to?'));
  assert.ok(find('Ada Kell').derived.includes('Whom do I contact to book the hut?'));
  assert.ok(find('3 months').derived.includes('For how long can I freeze my card?'));
  assert.ok(find('$5').derived.includes('How much does it cost to freeze my card?'));
  const { keywords, relations } = find('$220');
  assert.ok(keywords.length > 0 && !keywords.some((question) => /hour|25/u.test(question)), keywords.join());
  assert.deepEqual(relations, [], 'wordings for what the title names would ask for every price');
});

test('the parts of a contract are asked about by the names of those who have them', async () => {
  const find = await askedAbout(
    'TOOL HIRE\n\nOwner: Orlo Tools\nHirer: Ada Kell\n\n§ 1 Price\n(1) The Hirer pays $185 per day.\n' +
      "(2) The tool has the serial number EX-5527.\n\n§ 2 End\n(1) The Hirer may end it with three days' notice.\n",
  );
  for (const question of ['How much does the hirer pay per day?', 'How much does Ada Kell pay per day?'])
    assert.ok(find('$185').derived.includes(question), find('$185').derived.join(' '));
  assert.ok(find('EX-5527').derived.includes('What is the serial number?'));
  assert.ok(find('three days').derived.includes('How long is the notice period?'));
});

test('a name of a table is one in prose, too, and an address has its number', async () => {
  const find = await askedAbout(
    `# Boats\n\n${prices}\nR1 Canoe is blue. Boat R2 Kayak does not sail in winter. Our hut is at 22 Quay Street.\n`,
  );
  assert.ok(find('R2 Kayak').derived.includes('Which boat does not sail in winter?'), find('R2 Kayak').derived.join());
  assert.ok(find('22 Quay Street').derived.includes('Where is the hut?'), find('22 Quay Street').derived.join());
});

test('headings and house numbers are no answers', async () => {
  const { text, told } = readPassage(`# Boats at Lake Varn\n\n${prices}\nOur office is at 22 Quay Street.\n`);
  const { candidates } = await findCandidates(text, chunkPassage(text, 1500), [], told);
  const answers = candidates.map(({ span }) => span.text);
  assert.ok(!answers.includes('Lake Varn') && !answers.includes('22'), answers.join());
});

test("a teacher's question is made of what it asks about and of words that any question may have", () => {
  const about = 'Yes, 100 euros in cash. Do I have to leave a deposit?';
  assert.ok(isOfItsWords('How high is the deposit at Bo Bikes?', about, 'Bo Bikes'));
  assert.ok(!isOfItsWords('How much do customers save at Bo Bikes?', about, 'Bo Bikes'));
  assert.ok(!isOfItsWords('At what price did the deposit fall for auction?', about, 'Bo Bikes'));
});

test('what stands by something is not who made it', async () => {
  const find = await askedAbout(
    `# Boats\n\n${prices}\nThe café is located by City Hall. The hut was painted by Mill Hill.\n`,
  );
  const cafe = find('City Hall').derived;
  assert.ok(!cafe.some((question) => /^(?:Who|By whom)\b/u.test(question)), cafe.join());
  assert.ok(!find('Mill Hill').derived.includes('Who painted the hut?'));
});

test('years and counts before names are answers', async () => {
  const find = await askedAbout(
    `# Boats\n\n${prices}\nIn 1998 Ada Kell founded the club. In the 1990s Varn grew. Bo Lind won 5 Grammy Awards.\n`,
  );
  for (const answer of ['1998', '5']) find(answer);
  assert.match(find('1998').sentence.text, /founded/u);
});

test('prose below one heading is about what it names most, and no document', async () => {
  const told = (passage: string) => readPassage(passage).told;
  const biography = '# Introduction\n\nAda Kell was born in Varn in 1950. In 1998, Ada Kell founded Orlo, a mill.\n';
  assert.ok(!isDocument(readPassage(biography).text, told(biography)));
  const find = await askedAbout(biography);
  assert.equal(find('1998').document, null);
  assert.match(find('1998').about, /Ada Kell/u);
  const sections =
    '# Introduction\n\nAda Kell was born in Varn.\n\n## Mill\n\nShe ran it.\n\n## Age\n\nShe left in 1998.\n';
  assert.ok(isDocument(readPassage(sections).text, told(sections)));
  const { about } = (await askedAbout(sections))('1998');
  assert.match(about, /Ada Kell/u);
});

test('a title in capitals names nothing, unless the text goes on with it', async () => {
  const asked = async (title: string, last: string): Promise<string> => {
    const text = `${title}\n\nThe old ferry Havren is in the yard until December. It carries 48 cars. ${last}`;
    const { candidates } = await findCandidates(text, chunkPassage(text, 1500));
    const questions = candidates.flatMap(({ derived, keywords, relations }) => [
      ...derived,
      ...keywords,
      ...relations.flatMap((relation) => relation.questions),
    ]);
    return questions.join('\n').toLowerCase();
  };
  assert.doesNotMatch(await asked('NOTICE TO PASSENGERS', 'Tickets are sold on board.'), /notice to passengers/);
  assert.match(await asked('VARN BOAT LINE', 'The Varn Boat Line has 12 ferries.'), /varn boat line/);
});
