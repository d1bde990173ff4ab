// Fits the weights of packages/teacher-english/src/spans/salienceWeights.ts: of the spans that the pipeline finds,
// which do people ask for?
//
// node bench/learning-salience.mjs
//
// Logistic regression over the passages of bench/learning/passages.jsonl, tested on those of second.jsonl, whose
// questions another author wrote. Prints the weights, and the area under the ROC curve for both.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startEngineHost } from '../packages/engine/dist/index.js';
import { parsePassageSet } from '../packages/evaluation/dist/index.js';
import { defaultRecipe } from '../packages/learning/dist/index.js';
import { agrees, chunkForTeacher, plainText } from '../packages/learning/dist/parts.js';
import { findCandidates } from '../packages/teacher-english/dist/questions/candidates.js';
import { root } from './lib/measure.mjs';

/** The penalty is as strong as a normal prior of this precision on each weight. */
const penalty = 3;

const engine = await startEngineHost({ modelDir: join(root, 'models/base'), threads: 1 });
const { contextLength, parameters } = await engine.describe();
const recipe = defaultRecipe(parameters);
const [own, other] = [await samplesOf('passages'), await samplesOf('second')];
await engine.close();
const names = Object.keys(own[0].features);
const weights = fit(own);
console.log(
  `passages.jsonl: ${own.length} spans, ${asked(own)} of them asked for; area ${area(own, weights).toFixed(3)}`,
);
console.log(`second.jsonl: ${other.length} spans, ${asked(other)}; area ${area(other, weights).toFixed(3)}`);
const phrases = (samples) => samples.filter(({ features }) => features.phrase);
console.log(`phrases alone: ${area(phrases(own), weights).toFixed(3)}, ${area(phrases(other), weights).toFixed(3)}`);
names.forEach((name, index) => console.log(`  ${name}: ${weights[index].toFixed(2)},`));

async function samplesOf(file) {
  const set = parsePassageSet(readFileSync(join(root, `bench/learning/${file}.jsonl`), 'utf8'));
  if (set.kind !== 'read') throw new Error(`${file}.jsonl, line ${set.line}: ${set.message}`);
  const samples = [];
  for (const { passage, questions } of set.passages) {
    const text = plainText(passage);
    const { candidates } = await findCandidates(text, await chunkForTeacher(engine, text, contextLength, recipe));
    const answers = questions.flatMap((question) => question.answers);
    for (const { span, features } of candidates) {
      samples.push({ features, isAsked: answers.some((answer) => agrees(span.text, answer)) });
    }
  }
  return samples;
}

function asked(samples) {
  return samples.filter(({ isAsked }) => isAsked).length;
}

/** Newton's method would be faster; there are a thousand samples. */
function fit(samples) {
  let current = names.map(() => 0);
  for (let step = 0; step < 20_000; step++) {
    const slope = names.map((name, index) => (name === 'always' ? 0 : -penalty * current[index]));
    for (const { features, isAsked } of samples) {
      const missing = (isAsked ? 1 : 0) - chance(features, current);
      names.forEach((name, index) => (slope[index] += missing * features[name]));
    }
    current = current.map((weight, index) => weight + (2 / samples.length) * slope[index]);
  }
  return current;
}

function chance(features, weightsNow) {
  return 1 / (1 + Math.exp(-names.reduce((sum, name, index) => sum + weightsNow[index] * features[name], 0)));
}

/** Area under the ROC curve: how often a span that is asked for stands before one that is not. */
function area(samples, weightsNow) {
  const of = (wanted) =>
    samples.filter(({ isAsked }) => isAsked === wanted).map(({ features }) => chance(features, weightsNow));
  const [positives, negatives] = [of(true), of(false)];
  const before = positives.map((p) => negatives.reduce((sum, n) => sum + (p > n ? 1 : p === n ? 0.5 : 0), 0));
  return before.reduce((sum, n) => sum + n, 0) / (positives.length * negatives.length);
}
