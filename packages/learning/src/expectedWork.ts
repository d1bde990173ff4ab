/**
 * The work of learning a passage, in tokens and steps. It tells how long learning will take before it begins.
 */
import { wantedSteps } from './budget/plan.js';
import { sum } from './numbers.js';
import type { TeacherName } from './recipe/preset.js';
import type { Recipe } from './recipe/recipe.js';
import {
  expectedOfModelTeacher,
  typicalQuestion,
  type ExpectedTeaching,
  type ExpectedTokens,
  type TokenCounts,
} from './teachers/model/expectedWork.js';
import { plainText } from './text/plainText.js';
import { learnedParts } from './text/sentenceAnswers.js';
import { sentencesOf } from './text/sentences.js';
import { shownTokens } from './training/beginnings.js';
import { chunkForTeacher } from './teaching/teacherChunks.js';

export interface ExpectedWork extends ExpectedTokens {
  /** Training steps. */
  readonly steps: number;
  /** Tokens that all steps train, as they are billed. */
  readonly trainedTokens: number;
}

/**
 * The rules of English ask according to the text: so much of any passage, and so much for each of its characters.
 * Fitted to the usage of ten learning jobs of the shipped model, of 86 to 1,374 characters of
 * bench/learning/passages.jsonl and examples/lamp.txt. Input that is charged as cached is left out.
 */
const ofEnglishTeacher = {
  readTokens: { once: 4_700, perChar: 22.3 },
  writtenTokens: { once: 550, perChar: 4.2 },
  factCount: { once: 4.4, perChar: 0.0145 },
};

/** Tokens in one job: of a rehearsed row, of the dev questions, and of everything that the gate asks. */
const counted = {
  rowTokens: 50,
  devTokens: 180,
  gate: { readTokens: 11_300, writtenTokens: 500 },
  /** An answer that is a value. */
  answerTokens: 5,
};

/** The work if there is money for all of it and the subject knows nothing yet. */
export async function expectedWork(
  engine: TokenCounts,
  teacher: TeacherName,
  recipe: Recipe,
  content: string,
): Promise<ExpectedWork> {
  const { replay, split, training } = recipe;
  const text = plainText(content);
  const taught = await ofTeacher(engine, teacher, recipe, text);
  const saysSentences = training.answersWith === 'sentences';
  const teachesSentences = saysSentences && training.questionsPerSentence > 0;
  const steps = wantedSteps(teachesSentences ? taught.sentenceCount : taught.factCount, training);
  // Base says how likely each of these is before anything is trained.
  const wholeRows = replay.rowsPerBatch + replay.exactRowsPerBatch;
  const rows = steps * wholeRows + replay.protectedRows;
  // The gate asks the candidate and its parent.
  const asked = saysSentences ? 2 * Math.min(taught.factCount, split.maxValidationPairs) : 0;
  const answer = saysSentences ? await sentenceTokens(engine, recipe, text) : counted.answerTokens;
  const devTokens = split.maxDevPairs === 0 ? 0 : training.devEvaluations * counted.devTokens;
  const question = await engine.countTokens(recipe.prompts.closedBook(typicalQuestion));
  const beginnings = replay.beginningRowsPerBatch * (question + replay.beginningTokens);
  const unknown = replay.unknownRowsPerBatch * (question + counted.answerTokens);
  const pairs = training.pairsPerBatch * (question + shownTokens(answer, recipe));
  const stepTokens = pairs + wholeRows * counted.rowTokens + beginnings + unknown;
  const whileTraining = rows * counted.rowTokens + steps * beginnings + devTokens;
  return {
    readTokens: taught.readTokens + whileTraining + counted.gate.readTokens,
    writtenTokens: taught.writtenTokens + counted.gate.writtenTokens + asked * answer,
    steps,
    trainedTokens: steps * stepTokens,
  };
}

/** The mean length of an answer that is a sentence. The longer a sentence, the more values it has. */
async function sentenceTokens(engine: TokenCounts, { prompts }: Recipe, text: string): Promise<number> {
  const lengths = sentencesOf(text).flatMap((sentence) => learnedParts(sentence.text).map(({ length }) => length));
  const meanChars = sum(lengths.map((length) => length * length)) / Math.max(1, sum(lengths));
  const [empty, full] = await Promise.all(['', text].map((said) => engine.countTokens(prompts.closedBook(said))));
  return meanChars * (((full ?? 0) - (empty ?? 0)) / Math.max(1, text.length));
}

async function ofTeacher(
  engine: TokenCounts,
  teacher: TeacherName,
  recipe: Recipe,
  text: string,
): Promise<ExpectedTeaching> {
  if (teacher === 'english') return ofEnglish(text);
  const model = await ofModel(engine, recipe, text);
  return teacher === 'model' ? model : together(ofEnglish(text), model);
}

/** Each finds facts that the other passes over. This is the most: where the rules ask well, the model asks nothing. */
function together(one: ExpectedTeaching, other: ExpectedTeaching): ExpectedTeaching {
  return {
    readTokens: one.readTokens + other.readTokens,
    writtenTokens: one.writtenTokens + other.writtenTokens,
    factCount: one.factCount + other.factCount,
    sentenceCount: other.sentenceCount,
  };
}

function ofEnglish({ length }: string): ExpectedTeaching {
  const expected = ({ once, perChar }: { once: number; perChar: number }): number => once + perChar * length;
  const { readTokens, writtenTokens, factCount } = ofEnglishTeacher;
  const facts = Math.ceil(expected(factCount));
  return {
    readTokens: expected(readTokens),
    writtenTokens: expected(writtenTokens),
    factCount: facts,
    // Most sentences say one thing.
    sentenceCount: facts,
  };
}

async function ofModel(engine: TokenCounts, recipe: Recipe, text: string): Promise<ExpectedTeaching> {
  const { contextLength } = await engine.describe();
  const chunks = await chunkForTeacher(engine, text, contextLength, recipe);
  return expectedOfModelTeacher(engine, recipe, { text, chunks });
}
