import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeSeconds, fitSentences, type ModelFit } from './fitSentences.js';

const fit: ModelFit = {
  memory: { servingBytes: 600e6, learningBytes: 1.9e9, isMeasured: true },
  secondsPerThousandCharacters: 42,
  work: { readTokens: 12_345, writtenTokens: 3_456, steps: 80, trainedTokens: 40_000 },
  writtenPerSecond: 25,
};

test('memory and time are said in sentences, with what the time is made of', () => {
  assert.deepEqual(fitSentences(fit, 8e9), [
    'Serving takes 600.0 MB of memory, learning 1.9 GB more; there are 8.0 GB.',
    '1,000 characters take about 40 seconds to learn: some 12,300 tokens are read, 3,500 written, and there are 80 ' +
      'steps of training.',
    'An answer of 50 tokens takes about 2 seconds.',
  ]);
});

test('an estimate is called one, and a machine that is too small is told', () => {
  const estimated = { ...fit, memory: { ...fit.memory, isMeasured: false } };
  const [memory] = fitSentences(estimated, 2e9);
  assert.equal(
    memory,
    'Serving takes about 600.0 MB of memory, learning about 1.9 GB more; there are 2.0 GB, so it cannot learn here.',
  );
});

test('durations are no more exact than an estimate', () => {
  const said = [0.01, 1.26, 12, 99, 100, 5399, 7300].map(describeSeconds);
  const wanted = ['0.1 seconds', '1.3 seconds', '10 seconds', '100 seconds', '2 minutes', '90 minutes', '2 hours'];
  assert.deepEqual(said, wanted);
});
