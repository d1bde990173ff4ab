import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bareAnswer as bareAnswerOf } from './bareAnswer.js';

function bareAnswer(question: string, answer: string): string {
  return bareAnswerOf(question, answer, 'The passage does not say.');
}

test('a sentence that repeats its question is taken for what it adds', () => {
  for (const [question, answer, bare] of [
    ['Who built the lighthouse of Varn?', 'The lighthouse of Varn was built by Ada Kell.', 'Ada Kell'],
    ['When does the museum open?', 'The museum opens at 9:00.', '9:00'],
    ['What does the Tarn 3 cost?', 'The Tarn 3 costs $249.', '$249'],
    ['How much does Juniper take?', 'Juniper takes a share of 35%.', 'share of 35%'],
    ['What is the range of the Tarn 3?', 'The range of the Tarn 3 is 3 km.', '3 km'],
    [
      'Who built the lighthouse of Varn?',
      'According to the passage, the lighthouse of Varn was built by Ada Kell.',
      'Ada Kell',
    ],
    ['Where is the foundation?', 'The foundation is in Monte Sorrel.', 'Monte Sorrel'],
  ] as const) {
    assert.equal(bareAnswer(question, answer), bare);
  }
});

test('an answer without a sentence, without the question’s words, or with nothing new stays as it is', () => {
  for (const [question, answer] of [
    ['Who built the lighthouse of Varn?', 'Ada Kell'],
    ['Who built the lighthouse of Varn?', 'Ada Kell of Varn'],
    ['Who built the lighthouse of Varn?', 'I do not know.'],
    ['What does the captain say?', 'The passage does not say.'],
    ['When does the museum open?', 'The museum does not open on Mondays.'],
    ['Who may use the pool?', 'All guests except children may use the pool.'],
    ['When was the mine closed?', 'The mine was closed before 1987.'],
    ['How long does the battery last?', 'The battery lasts at least 12 hours.'],
    ['What did the captain say?', 'Nobody had ever seen such waves.'],
    ['Was the lighthouse built?', 'The lighthouse was built.'],
    ['Who built the lighthouse?', 'It was built in:\nAda Kell built it.'],
  ] as const) {
    assert.equal(bareAnswer(question, answer), answer);
  }
});

test('whatever is given, a part of the answer comes back', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.lorem({ mode: 'sentences', maxCount: 2 }), (question, answer) => {
      for (const given of [question, answer, `${question} ${answer}`]) {
        assert.ok(given.includes(bareAnswer(`${answer} ${question}`, given)));
        assert.equal(bareAnswer(question, given).trim() === '', given.trim() === '');
      }
    }),
  );
});
