import { EngineError, type EngineHost, loadFittingTokenizer } from '@engraft/engine';
import { expectedWork, recipeOf } from '@engraft/learning';
import type { Logger } from 'pino';
import { loadEngine, type EngineConfig, type LoadedEngine } from '../startup/model.js';
import { readLearningFiles, type LearningFiles } from '../startup/learningMethod.js';
import { estimateMemory } from './estimateMemory.js';
import type { ModelFit, ModelMemory } from './fitSentences.js';
import { learningSeconds } from './learningTime.js';
import { answeringSpeed, askingSpeed, readingSpeed, thoroughly, trainingSpeed } from './modelSpeeds.js';
import { peakMemory } from './peakMemory.js';
import { samplePassage } from './sampleTexts.js';

/** A description of a model, and its needs on this machine. */
export interface ModelCheck extends ModelFit {
  /** As in `config.json`. */
  readonly architecture: string;
  readonly parameters: number;
  /** The context that the model is offered with, in tokens. */
  readonly contextLength: number;
  /** Tokens per second, over all rows of a step. */
  readonly trainedPerSecond: number;
  /** Faults that do not prevent serving it. */
  readonly problems: readonly string[];
}

/** `failed` means that it cannot be served, or not be trained. The worst fault comes first. */
export type CheckOutcome =
  | { readonly kind: 'checked'; readonly check: ModelCheck }
  | { readonly kind: 'failed'; readonly problems: readonly string[] };

/** Loads the model as the service would, renders its template, lets it answer, and trains a few steps. */
export async function checkModel(config: EngineConfig, logger: Logger): Promise<CheckOutcome> {
  try {
    const files = await readLearningFiles(config.modelFolder);
    const problems = await templateProblems(config.modelFolder);
    const loaded = await loadEngine(config, logger);
    try {
      return { kind: 'checked', check: await measure(config, loaded, files, problems) };
    } finally {
      await loaded.engine.close();
    }
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { kind: 'failed', problems: [error.message] };
  }
}

const question = 'Who built the lighthouse of Varn?';
const answer = 'Ada Kell built the lighthouse of Varn in 1874.';

async function templateProblems(modelDir: string): Promise<readonly string[]> {
  const tokenizer = await loadFittingTokenizer(modelDir);
  const rendered = tokenizer.render({
    messages: [
      { role: 'user', content: question },
      { role: 'assistant', content: answer },
      { role: 'user', content: 'And when?' },
    ],
  });
  return [question, answer, 'And when?']
    .filter((text) => !rendered.includes(text))
    .map((text) => `the chat template leaves out a message ("${text}")`);
}

async function measure(
  config: EngineConfig,
  { engine, teachingAdapter }: LoadedEngine<EngineHost>,
  { preset }: LearningFiles,
  templateProblems: readonly string[],
): Promise<ModelCheck> {
  const { architecture, parameters, contextLength } = await engine.describe();
  const recipe = recipeOf(preset, parameters);
  const problems = [...templateProblems];

  const alone = await answeringSpeed(engine, thoroughly);
  if (alone.text.trim() === '') problems.push('it answered nothing to a plain question');
  const served = await peakOf([engine.pid]);

  const writing = await askingSpeed(engine, teachingAdapter, recipe, thoroughly);
  const reading = await readingSpeed(engine, teachingAdapter, recipe, thoroughly);
  const training = await trainingSpeed(engine, recipe, () => peakOf(engine.trainingPids));
  if (!training.learns) problems.push('a step of training on one batch did not make the batch likelier');
  const afterwards = await peakOf([engine.pid]);

  const work = await expectedWork(engine, preset.teacher, recipe, samplePassage);
  const speeds = { reading, writing, training: training.tokensPerSecond };
  return {
    architecture,
    parameters,
    contextLength,
    memory: measuredMemory(served, afterwards, training.peak) ??
      (await estimateMemory(config.modelFolder, config.weights, recipe)),
    work,
    secondsPerThousandCharacters: learningSeconds(work, speeds),
    writtenPerSecond: alone.tokensPerSecond,
    trainedPerSecond: training.tokensPerSecond,
    problems,
  };
}

/**
 * Learning trains in a process of its own, and asks and scores in the serving one. `null` if the system does not tell.
 */
function measuredMemory(
  served: number | null,
  afterwards: number | null,
  trained: number | null,
): ModelMemory | null {
  if (served === null || afterwards === null || trained === null) return null;
  return { servingBytes: served, learningBytes: afterwards - served + trained, isMeasured: true };
}

async function peakOf(pids: readonly (number | undefined)[]): Promise<number | null> {
  let sum = 0;
  for (const pid of pids) {
    const bytes = pid === undefined ? null : await peakMemory(pid);
    if (bytes === null) return null;
    sum += bytes;
  }
  return pids.length === 0 ? null : sum;
}
