import { expectedWork, recipeOf } from '@engraft/learning';
import type { EngineConfig, LoadedEngine } from '../startup/model.js';
import { readLearningFiles } from '../startup/learningMethod.js';
import { estimateMemory } from './estimateMemory.js';
import type { ModelFit } from './fitSentences.js';
import { learningSeconds } from './learningTime.js';
import { answeringSpeed, askingSpeed, quickly, readingSpeed } from './modelSpeeds.js';
import { sampleAnswers, samplePassage, sampleQuestion } from './sampleTexts.js';

/** Training a token takes this much longer than reading it: forwards and backwards through the model. */
const trainedPerRead = 3;

/**
 * Like `checkModel`, but within seconds and beside other work. Memory follows from the model's shape, speeds from a few
 * short calls, and the time of a step from that of reading. Nothing is trained.
 */
export async function estimateFit(config: EngineConfig, { engine, teachingAdapter }: LoadedEngine): Promise<ModelFit> {
  const { preset } = await readLearningFiles(config.modelFolder);
  const recipe = recipeOf(preset, (await engine.describe()).parameters);
  const alone = await answeringSpeed(engine, quickly);
  const writing = await askingSpeed(engine, teachingAdapter, recipe, quickly);
  const reading = await readingSpeed(engine, teachingAdapter, recipe, quickly);
  const rows = recipe.training.pairsPerBatch + recipe.replay.rowsPerBatch;
  const answer = sampleAnswers[recipe.training.answersWith];
  const { tokens: row } = await engine.encode(recipe.prompts.closedBook(sampleQuestion), answer);
  const stepSeconds = (rows * row.length * trainedPerRead) / reading;
  const work = await expectedWork(engine, preset.teacher, recipe, samplePassage);
  return {
    memory: await estimateMemory(config.modelFolder, config.weights, recipe),
    work,
    secondsPerThousandCharacters: learningSeconds(work, { reading, writing, stepSeconds }),
    writtenPerSecond: alone.tokensPerSecond,
  };
}
