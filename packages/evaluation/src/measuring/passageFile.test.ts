import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ParagraphQuestion } from '../squad/paragraphs.js';
import { parsePassageFile } from './passageFile.js';
import { parsePassageSet } from './passageSet.js';
import { squadPassages } from './squadPassages.js';

const context = 'The lighthouse of Varn was built by Ada Kell in 1874.';
const builder: ParagraphQuestion = { question: 'Who built the lighthouse?', answers: ['Ada Kell', 'Kell'] };
const height: ParagraphQuestion = { question: 'How tall is it?', answers: [] };
const expected = {
  id: 'Varn_light-1',
  kind: 'squad',
  passage: context,
  questions: [{ phrasings: ['Who built the lighthouse?'], answers: ['Ada Kell', 'Kell'] }],
};
const title = 'Varn (light';

const qas = [builder, height].map(({ question, answers }) => ({ q: question, a: answers }));
const document = {
  data: [
    {
      title,
      paragraphs: [
        {
          context,
          qas: [builder, height].map(({ question, answers }) => ({
            id: question,
            question,
            is_impossible: answers.length === 0,
            answers: answers.map((text) => ({ text, answer_start: context.indexOf(text) })),
          })),
        },
      ],
    },
  ],
};
const rows = [builder, height].map(({ question, answers }) => ({
  title,
  context,
  question,
  answers: { text: answers, answer_start: [] },
}));

for (const [what, content] of [
  ['a document', JSON.stringify(document)],
  ['a document over many lines', `\n${JSON.stringify(document, null, 2)}`],
  ['a document with a byte order mark', `\uFEFF${JSON.stringify(document)}`],
  ['lines of paragraphs', JSON.stringify({ title, context, qas })],
  ['lines of questions', rows.map((row) => JSON.stringify(row)).join('\n')],
] as const) {
  test(`${what} of SQuAD's: questions without an answer are left out`, () => {
    assert.deepEqual(parsePassageFile(content), { kind: 'read', passages: [expected] });
  });
}

test('the ids are unique, fit our own format and count every paragraph of a title', () => {
  const paragraph = (name: string, questions = [builder]) => ({ title: name, context, questions });
  const names = ['A b', 'A?b', 'A b', '', 'x'.repeat(90)];
  const passages = squadPassages([...names.map((name) => paragraph(name)), paragraph('A b', [height])]);
  assert.deepEqual(
    passages.map(({ id }) => id),
    ['A_b-1', 'A_b-2', 'A_b-3', 'untitled-1', `${'x'.repeat(56)}-1`],
  );
  // With a second phrasing they are passages as our own files have them.
  const lines = passages.map((passage) => ({
    ...passage,
    questions: passage.questions.map((each) => ({ ...each, phrasings: [...each.phrasings, 'Whose work is it?'] })),
  }));
  assert.equal(parsePassageSet(lines.map((line) => JSON.stringify(line)).join('\n')).kind, 'read');
  assert.deepEqual(squadPassages([{ title, context: 'x'.repeat(16_001), questions: [builder] }]), []);
});

test('our own format is read as before', () => {
  const line = JSON.stringify({
    id: 'lamp',
    kind: 'product',
    passage: 'The Lume Lamp costs 49 dollars.',
    questions: [{ phrasings: ['What does it cost?', 'How dear is it?'], answers: ['49 dollars'] }],
  });
  assert.deepEqual(parsePassageFile(line), parsePassageSet(line));
  assert.equal(parsePassageFile(line).kind, 'read');
});

for (const [what, content, line, field, message] of [
  [
    'another object',
    '\n{"colour": "red"}',
    2,
    '',
    /\{id, kind, passage, questions\} or.*\{data\}.*\{title, context, qas\}/,
  ],
  ['no JSON', 'Who built it?', 1, '', /\{id, kind, passage, questions\} or.*SQuAD/],
  ['a list', '[1]', 1, '', /SQuAD/],
  ['an empty file', '\n', 1, '', /no passage/],
  ['an incomplete passage', '{"id": "lamp", "kind": "product"}', 1, 'passage', /./],
  ['an incomplete document', '{"data": [{"title": "Varn"}]}', 1, 'data[0].paragraphs', /./],
  ['a wrong line', `${JSON.stringify({ title, context, qas })}\n{"title": "x"}`, 2, 'context', /./],
  ['no answer', JSON.stringify({ title, context, qas: qas.slice(1) }), 1, '', /question that it answers/],
] as const) {
  test(`${what} is refused by line and field`, () => {
    const set = parsePassageFile(content);
    assert.ok(set.kind === 'invalid');
    assert.deepEqual([set.line, set.field], [line, field]);
    assert.match(set.message, message);
  });
}
