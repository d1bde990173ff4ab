import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { keywordQuestions } from './keywords.js';
import { containsWords, randomNumbers, sentencesOf } from '@engraft/learning/parts';
import { findSpans, type Span } from '../spans/spans.js';

const passage =
  'The Lume Lamp was designed by Ada Kell in 1994. Queries can be stopped with the command HALT. It holds 1.4 litres and boils a full load in four minutes. ' +
  'Owners stay with their dogs on the upper deck. The yard is shut because the key was lost. ' +
  'The club has 84 plots, and each plot is 150 square metres large. Writing is 30 percent faster.';
const sentences = sentencesOf(passage);

function questionsFor(answer: string, seed = 1, count = 12, subjects: readonly string[] = ['the Lume Lamp']): string[] {
  for (const sentence of sentences) {
    const spans = findSpans(sentence, passage);
    const span = spans.find(({ text }) => text === answer);
    if (span !== undefined) return keywordQuestions(sentence, span, spans, subjects, count, randomNumbers(seed));
  }
  throw new Error(`${answer} is no span`);
}

const openings = (questions: readonly string[]): Set<string> =>
  new Set(questions.map((question) => question.split(' ').slice(0, 2).join(' ')));

test('a fact is asked for in the words around it, by the question words of its kind', () => {
  assert.ok(questionsFor('Ada Kell').every((question) => /^(?:Who|By whom|What) /u.test(question)));
  assert.ok(questionsFor('1994').every((question) => /^(?:When|In (?:which|what) year) /u.test(question)));
  assert.ok(openings(questionsFor('HALT')).has('Which command'));
  assert.ok(openings(questionsFor('four minutes')).has('How long'));
  assert.ok(openings(questionsFor('1.4 litres')).has('How many'));
  assert.ok(questionsFor('upper deck').every((question) => /^(?:Where|What|Which|On which deck) /u.test(question)));
  assert.ok(questionsFor('the key was lost').every((question) => question.startsWith('Why ')));
  assert.ok(questionsFor('HALT').some((question) => /\bstop\b/u.test(question)));
  assert.ok(questionsFor('HALT').some((question) => /\bstopped\b/u.test(question)));
});

test('what is denied is asked for as denied', () => {
  const text = 'Sorrel Park is not open on Sundays, but it sells tea for 4 euros. It opens daily except on Mondays.';
  const asked = (answer: string): string[] => {
    const sentence = sentencesOf(text).find((each) => each.text.includes(answer));
    assert.ok(sentence !== undefined);
    const spans = findSpans(sentence, text);
    const span = spans.find((each) => each.text === answer);
    assert.ok(span !== undefined, answer);
    return keywordQuestions(sentence, span, spans, ['Sorrel Park'], 20, randomNumbers(1));
  };
  assert.ok(asked('Sundays').length > 0);
  assert.ok(asked('Sundays').every((question) => / not\b/u.test(question)));
  assert.ok(asked('Mondays').every((question) => / except\b/u.test(question)));
  assert.ok(
    asked('4 euros').every((question) => !/ not\b/u.test(question)),
    'which is another clause',
  );
});

test('a question may name what its answer is', () => {
  assert.ok(questionsFor('upper deck', 1, 60).some((question) => question.startsWith('On which deck ')));
});

test('what stands far from the answer is named less often, and values as a whole', () => {
  const about = questionsFor('four minutes', 3, 40);
  assert.ok(about.some((question) => question.includes('1.4 litres')));
  assert.ok(about.every((question) => question.includes('1.4') === question.includes('1.4 litres')));
  const share = (word: string): number => about.filter((question) => question.includes(word)).length;
  assert.ok(share('load') > share('hold'));
});

test('no question without a subject', () => {
  assert.deepEqual(questionsFor('HALT', 1, 12, []), []);
});

test('for any seed: different questions that name a subject and do not tell the answer, the same for the same seed', () => {
  const cases = sentences.flatMap((sentence) => {
    const spans = findSpans(sentence, passage);
    return spans.map((span) => ({ sentence, span, spans }));
  });
  fc.assert(
    fc.property(fc.nat(), fc.constantFrom(...cases), fc.nat(20), (seed, { sentence, span, spans }, count) => {
      const subjects = ['Basalt', 'the Grey Heron'].filter((name) => !containsWords(name, span.text));
      const ask = (of: Span): string[] => keywordQuestions(sentence, of, spans, subjects, count, randomNumbers(seed));
      const questions = ask(span);
      assert.deepEqual(questions, ask(span));
      assert.ok(questions.length <= count);
      assert.equal(new Set(questions).size, questions.length);
      for (const question of questions) {
        assert.ok(subjects.some((subject) => question.includes(subject)));
        assert.ok(question.endsWith('?') && !question.includes('  '));
        assert.ok(!containsWords(question, span.text));
      }
    }),
  );
});
