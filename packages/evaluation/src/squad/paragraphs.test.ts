import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseParagraphs } from './paragraphs.js';

const context = 'The lighthouse of Varn was built by Ada Kell in 1874.';
const expected = [
  {
    title: 'Varn',
    context,
    questions: [
      { question: 'Who built it?', answers: ['Ada Kell'] },
      { question: 'How tall is it?', answers: [] },
    ],
  },
];

test("SQuAD's own document, lines of paragraphs and lines of questions say the same", () => {
  const document = {
    version: '2.0',
    data: [
      {
        title: 'Varn',
        paragraphs: [
          {
            context,
            qas: [
              {
                id: '1',
                question: ' Who built it?',
                answers: [1, 2].map(() => ({ text: 'Ada Kell', answer_start: 34 })),
              },
              { id: '2', question: 'How tall is it?', is_impossible: true },
            ],
          },
        ],
      },
    ],
  };
  const paragraph = {
    title: 'Varn',
    context,
    qas: [
      { q: 'Who built it?', a: ['Ada Kell'] },
      { q: 'How tall is it?', a: [] },
    ],
  };
  const rows = expected[0]!.questions.map(({ question, answers }) => ({
    id: question,
    title: 'Varn',
    context,
    question,
    answers: { text: answers, answer_start: answers.map(() => 34) },
  }));
  for (const content of [
    JSON.stringify(document, null, 1),
    `\uFEFF${JSON.stringify(document)}`,
    `${JSON.stringify(paragraph)}\n\n`,
    rows.map((row) => JSON.stringify(row)).join('\n'),
  ]) {
    assert.deepEqual(parseParagraphs(content), { kind: 'read', paragraphs: expected });
  }
});

test('questions that are blank, or too long for any question, are left out', () => {
  const questions = ['Who built it?', '  ', '', 'x'.repeat(400), 'x'.repeat(401), ` ${'y'.repeat(400)} `];
  const document = {
    data: [{ title: 'Varn', paragraphs: [{ context, qas: questions.map((question) => ({ question })) }] }],
  };
  const paragraph = { title: 'Varn', context, qas: questions.map((q) => ({ q, a: [] })) };
  const rows = questions.map((question) => ({ title: 'Varn', context, question, answers: { text: [] } }));
  for (const lines of [[document], [paragraph], rows]) {
    const set = parseParagraphs(lines.map((line) => JSON.stringify(line)).join('\n'));
    assert.ok(set.kind === 'read');
    const read = set.paragraphs.flatMap((each) => each.questions.map(({ question }) => question));
    assert.deepEqual(read, ['Who built it?', 'x'.repeat(400), 'y'.repeat(400)]);
  }
});

test('documents, paragraphs and rows need no title', () => {
  const question = 'Who built it?';
  const answers = [{ text: 'Ada Kell', answer_start: 34 }];
  for (const line of [
    { data: [{ paragraphs: [{ context, qas: [{ question, answers }] }] }] },
    { context, qas: [{ q: question, a: ['Ada Kell'] }] },
    { title: null, context, question, answers: { text: ['Ada Kell'] } },
  ]) {
    const paragraphs = [{ title: '', context, questions: [{ question, answers: ['Ada Kell'] }] }];
    assert.deepEqual(parseParagraphs(JSON.stringify(line)), { kind: 'read', paragraphs });
  }
});

test("rows may list their answers as SQuAD's own document does, and questions without one may have null", () => {
  const impossible = { question: 'How tall is it?', is_impossible: true };
  const listed = { question: 'Who built it?', answers: [{ text: 'Ada Kell', answer_start: 34 }] };
  const rows = [listed, { ...impossible, answers: null }, { ...impossible, answers: { text: ['34'] } }];
  const document = { data: [{ title: 'Varn', paragraphs: [{ context, qas: rows.slice(0, 2) }] }] };
  const inRows = (count: number): string =>
    rows
      .slice(0, count)
      .map((row) => JSON.stringify({ title: 'Varn', context, ...row }))
      .join('\n');
  for (const content of [JSON.stringify(document), inRows(2)]) {
    assert.deepEqual(parseParagraphs(content), { kind: 'read', paragraphs: expected });
  }
  const set = parseParagraphs(inRows(3));
  assert.ok(set.kind === 'read');
  assert.deepEqual(set.paragraphs[0]?.questions.at(-1), { question: 'How tall is it?', answers: [] });
});

for (const [what, content, line, field] of [
  ['text', 'Who built it?', 1, ''],
  ['an empty file', '\n', 1, ''],
  ['paragraphs without questions', JSON.stringify({ title: '', context, qas: [] }), 1, ''],
  [
    'a paragraph without context',
    `${JSON.stringify({ title: '', context, qas: [] })}\n{"title": "", "qas": []}`,
    2,
    'context',
  ],
  ['an answer that is no text', JSON.stringify({ title: '', context, qas: [{ q: 'Who?', a: [7] }] }), 1, 'qas[0].a[0]'],
  ['a document whose title is no text', JSON.stringify({ data: [{ title: 7, paragraphs: [] }] }), 1, 'data[0].title'],
  ['a row without answers', JSON.stringify({ context, question: 'Who?' }), 1, 'answers'],
  [
    'a listed answer without text',
    JSON.stringify({ context, question: 'Who?', answers: [{ answer_start: 34 }] }),
    1,
    'answers[0].text',
  ],
] as const) {
  test(`${what} is refused by line and field`, () => {
    const set = parseParagraphs(content);
    assert.ok(set.kind === 'invalid' && set.message !== '');
    assert.deepEqual([set.line, set.field], [line, field]);
  });
}
