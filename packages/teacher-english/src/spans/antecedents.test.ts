import assert from 'node:assert/strict';
import { test } from 'node:test';
import { personMeant, thingAfter } from './antecedents.js';
import { findCandidates } from '../questions/candidates.js';
import { chunkPassage, sentencesOf, type TextRange } from '@engraft/learning/parts';
import { findSpans } from './spans.js';

function only(text: string): TextRange {
  const [sentence] = sentencesOf(text);
  assert.ok(sentence !== undefined);
  return sentence;
}

test('"it" is the thing that a passage is about where the sentence before goes on to speak of it, else what that begins with', () => {
  const after = (text: string, protagonist: string): string | null => {
    const sentence = only(text);
    const aliases = new Map([['kettle', 'the Brindle Kettle']]);
    return thingAfter(sentence, findSpans(sentence, text), { aliases, protagonist }, 'Oslo');
  };
  assert.equal(after('Tamsin Works builds the kettle in Ellerby.', 'the Brindle Kettle'), 'the Brindle Kettle');
  assert.equal(after('Tamsin Works has a shop in Ellerby.', 'the Brindle Kettle'), 'Tamsin Works');
  assert.equal(after('Fennick Roasters opened in 1990.', 'the Fennick'), 'Fennick Roasters');
  assert.equal(after('Ada Kell founded the bakery in 1998.', 'Ada Kell'), null);
  assert.equal(after('Velona bought a mill.', 'Velona'), null);
  assert.equal(after('The shop is closed.', 'the Brindle Kettle'), 'Oslo');
});

test('"he" or "she" is the last subject, where nobody else can be meant', () => {
  const meant = (text: string, subject: string, others: readonly string[], protagonist = subject): string | null =>
    personMeant(text, { subject, others, protagonist });
  assert.equal(meant('She moved.', 'Ada Kell', []), 'Ada Kell');
  assert.equal(meant('She moved.', 'Philippa Osei', ['Ada Kell']), 'Philippa Osei', 'whom the passage is about');
  assert.equal(meant('He died.', 'Ada Kell', ['Bo Lind']), null);
  assert.equal(meant('He died.', 'Ada Kell', ['Otto Brandt']), 'Otto Brandt');
  assert.equal(meant('She left.', 'Velona', ['Ada Kell']), null);
  assert.equal(meant('She left.', 'Marta Lind', ['Ada Kell'], 'the Tarn 3'), null);
  assert.equal(meant('The mill burned.', 'Ada Kell', ['Bo Lind']), 'Ada Kell', 'which is no question of persons');
});

test('what is said of "he", "she" or "it" is asked of nobody else', async () => {
  for (const [passage, wrong] of [
    ['Ada Kell married Bo Lind in 1990. He died in 2004.', /Ada Kell die\b/u],
    ['Marta Lind founded the bakery in 1998. It was sold in 2015.', /Marta Lind sold/u],
    ['Velona hired Ada Kell in 1999, but she left in 2003.', /Velona leave/u],
    ['Marta Lind founded the bakery in 1998, and it was sold in 2015.', /Marta Lind sold/u],
  ] as const) {
    const { candidates } = await findCandidates(passage, chunkPassage(passage, 1500));
    assert.ok(candidates.length > 0);
    for (const { derived } of candidates) for (const question of derived) assert.doesNotMatch(question, wrong);
  }
  const passage = 'Ada Kell was born in Varn. She moved to Oslo in 1990.';
  const { candidates } = await findCandidates(passage, chunkPassage(passage, 1500));
  assert.ok(candidates.some(({ derived }) => derived.some((question) => question.includes('When did Ada Kell move'))));
});

test('a pronoun after "and" is not the one that its sentence opens with, unless both are of one kind', async () => {
  const askedOf = async (sentences: string, answer: string): Promise<string[]> => {
    const passage = `Ada Kell was born in Varn. ${sentences}`;
    const { candidates, contradicted } = await findCandidates(passage, chunkPassage(passage, 1500));
    assert.deepEqual(contradicted, [], sentences);
    return candidates.filter(({ span }) => span.text === answer).flatMap(({ derived }) => derived);
  };
  for (const [sentences, answer] of [
    ['She moved to Oslo in 1995, and he died in 1999.', '1999'],
    ['She opened the Kettle Inn in 1950, and it closed in 1970.', '1970'],
    ['The inn opened in 1950, and it closed in 1970.', '1970'],
    ['She married Bo Lind in 1950, and he died in 1970. She died in 1990.', '1970'],
    ['She moved to Oslo in 1950, and his brother died in 1970.', '1970'],
    ['In 1950 she moved to Oslo, but they left in 1970.', '1970'],
  ] as const)
    assert.deepEqual(await askedOf(sentences, answer), [], sentences);
  for (const [sentences, answer, question] of [
    ['She moved to Oslo in 1950, and she died in 1970.', '1970', 'When did Ada Kell die?'],
    ['She moved to Oslo in 1950, and her brother died in 1970.', '1970', "When did Ada Kell's brother die?"],
    ['She married Bo Lind in 1950, and he died in 1970. She died in 1990.', '1990', 'When did Ada Kell die?'],
    ['She married Otto Brandt in 1950, and he died in 1970.', '1970', 'When did Otto Brandt die?'],
  ] as const)
    assert.equal((await askedOf(sentences, answer))[0], question, sentences);
});

test('nothing is asked about a clause whose pronoun stands for nobody known', async () => {
  const passage = 'Velona hired Ada Kell in 1999, but she left in 2003.';
  const { candidates } = await findCandidates(passage, chunkPassage(passage, 1500));
  const left = candidates.find(({ span }) => span.text === '2003');
  assert.deepEqual(left?.derived, []);
});
