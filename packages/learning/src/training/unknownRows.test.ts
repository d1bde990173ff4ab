import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { renamed, renamedQuestions, unknownThings } from './unknownRows.js';
import { inventedNames, unknownQuestions } from './unknownThings.js';

/** The question with `X` for the invented name. */
function shapeOf(question: string): string | null {
  const invented = renamed(question, inventedNames);
  if (invented === null) return null;
  const name = [...inventedNames].sort((a, b) => b.length - a.length).find((known) => invented.includes(known));
  return name === undefined ? invented : invented.replace(name, 'X');
}

test('one name of a question becomes one that does not exist', () => {
  assert.equal(shapeOf('Who founded Velona?'), 'Who founded X?');
  assert.equal(shapeOf('Where was Ada Kell born?'), 'Where was X born?');
  assert.equal(shapeOf("What is Velona's capital?"), "What is X's capital?");
  assert.equal(shapeOf("When did Destiny's Child part?"), 'When did X part?');
  assert.equal(shapeOf('What was said in the "New Aldport Times"?'), 'What was said in the "X"?');
  assert.equal(shapeOf('Wann wurde die Mühle gebaut?'), 'Wann wurde die X gebaut?');
  const one = shapeOf('When did Ada Kell leave Orvale?');
  assert.ok(['When did X leave Orvale?', 'When did Ada Kell leave X?'].includes(one ?? ''), one ?? 'no name');
});

test('there is nothing to rename in a question without a name', () => {
  for (const question of ['What does it cost?', 'What should I do?', 'Who?', '', '水車小屋はいつ建てられましたか。']) {
    assert.equal(renamed(question, inventedNames), null, question);
  }
});

test('the same question is renamed alike, and all around the name stays', () => {
  const word = fc.constantFrom('when', 'Ada', 'Kell', 'the', '1874,', '(Orvale)', '"Mill"', 'I', '’s', 'Ünder-X');
  fc.assert(
    fc.property(fc.array(word, { maxLength: 10 }), (words) => {
      const question = ['Who', ...words].join(' ');
      const invented = renamed(question, inventedNames);
      assert.equal(invented, renamed(question, inventedNames));
      if (invented === null) return;
      assert.ok(
        inventedNames.some((name) => {
          const [before = '', ...after] = invented.split(name);
          return after.length > 0 && question.startsWith(before) && question.endsWith(after.join(name));
        }),
        `${question} | ${invented}`,
      );
    }),
  );
});

test('nothing that is taught is asked about as if it did not exist', () => {
  const taught = 'The mill of Velmere belongs to Ludmila Harrow.';
  const asked = renamedQuestions(
    Array.from({ length: 200 }, (_, index) => `Who built Mill ${index}?`),
    taught,
  );
  assert.equal(asked.length, 200);
  const all = [...asked, ...unknownThings(taught)];
  for (const name of ['Velmere', 'Ludmila', 'Harrow'])
    assert.ok(
      all.every((question) => !question.includes(name)),
      name,
    );
  assert.equal(unknownThings('').length, unknownQuestions.length);
});
