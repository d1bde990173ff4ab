import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyCurve, withLoss } from './lossCurve.js';
import { evaluatingSchema, scoringSchema, trainingSchema } from './outcomes.js';
import { traceOf } from './trace.js';

const sentence = 'The mill was sold to Ada Kell in 1921, who closed it.';
const form = { origin: 'asked', standing: 'question', testRank: 0, plainRank: 0 };
const scoring = scoringSchema.parse({
  facts: [
    {
      answer: 'Ada Kell',
      training: [],
      dev: [],
      validation: [
        { ...form, question: 'Who bought the mill?' },
        { ...form, question: 'To whom was the mill sold in 1921?', quoted: true },
      ],
      softTargets: null,
    },
  ],
  known: [],
});
const training = trainingSchema.parse({
  adapter: { folder: 'run/step-1', contentHash: 'sha256:0', sizeBytes: 1 },
  report: { steps: 1, tokens: 1, final_loss: 0.5 },
  curve: withLoss(emptyCurve, 0.5),
});
const none = { candidate: 0, parent: 0, total: 0 };
const evaluating = evaluatingSchema.parse({
  validation: none,
  retention: none,
  canaries: none,
  replies: [
    { candidate: sentence, parent: 'I do not know.' },
    { candidate: sentence, parent: sentence },
  ],
});

test('a trace has no question that is a sentence of the passage', () => {
  const { loss, questions } = traceOf(training, scoring, evaluating, false);
  assert.deepEqual(loss, [{ step: 1, loss: 0.5 }]);
  assert.deepEqual(questions, [
    {
      question: 'Who bought the mill?',
      answer: 'Ada Kell',
      parent: { text: 'I do not know.', is_right: false },
      candidate: { text: sentence, is_right: true },
    },
  ]);
});

test('where replies may be sentences of a passage, a trace says which were right and keeps none of them', () => {
  const trace = traceOf(training, scoring, evaluating, true);
  assert.deepEqual(
    trace.questions.map(({ parent, candidate }) => [parent, candidate]),
    [
      [
        { text: null, is_right: false },
        { text: null, is_right: true },
      ],
    ],
  );
  assert.doesNotMatch(JSON.stringify(trace), /sold/);
});
