import assert from 'node:assert/strict';
import test from 'node:test';
import { chunkPassage, readPassage } from '@engraft/learning/parts';
import { findCandidates, type Candidate } from './candidates.js';
import { isDocument, sharesWord } from './documentProse.js';

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

test('headings and house numbers are no answers', async () => {
  const { text, told } = readPassage(`# Boats at Lake Varn\n\n${prices}\nOur office is at 22 Quay Street.\n`);
  const { candidates } = await findCandidates(text, chunkPassage(text, 1500), [], told);
  const answers = candidates.map(({ span }) => span.text);
  assert.ok(!answers.includes('Lake Varn') && !answers.includes('22'), answers.join());
});

test("a teacher's question has a word of what it is asked about, beside the document's name", () => {
  const about = 'Yes, 100 euros in cash. Do I have to leave a deposit?';
  assert.ok(sharesWord('How high is the deposit at Bo Bikes?', about, 'Bo Bikes'));
  assert.ok(!sharesWord('How much do customers save at Bo Bikes?', about, 'Bo Bikes'));
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
