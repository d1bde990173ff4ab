import { expectedWork, recipeOf } from '@engraft/learning';
import type { EngineConfig, LoadedEngine } from '../startup/model.js';
import { readLearningFiles } from '../startup/learningMethod.js';
import { estimateMemory } from './estimateMemory.js';
import type { ModelFit } from './fitSentences.js';
import { learningSeconds } from './learningTime.js';
import { quickSpeeds } from './quickSpeeds.js';
import { samplePassage } from './sampleTexts.js';

/**
 * Like `checkModel`, but within seconds and beside other work. Memory follows from the model's shape, speeds from a few
 * short calls, and how fast it trains from how fast it reads. Nothing is trained.
 */
export async function estimateFit(config: EngineConfig, loaded: LoadedEngine): Promise<ModelFit> {
  const { engine } = loaded;
  const { preset } = await readLearningFiles(config.modelFolder);
  const recipe = recipeOf(preset, (await engine.describe()).parameters);
  const work = await expectedWork(engine, preset.teacher, recipe, samplePassage);
  const speeds = await quickSpeeds(loaded, recipe);
  return {
    memory: await estimateMemory(config.modelFolder, config.weights, recipe),
    work,
    secondsPerThousandCharacters: learningSeconds(work, speeds),
    writtenPerSecond: speeds.answering,
  };
}
