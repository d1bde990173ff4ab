import path from 'node:path';
import { computeChargeMicrousd, currentPriceCard } from '@engraft/contract';
import type { ExpectedCharge, LearningEstimate, ModelDescription, ModelSpeeds } from '@engraft/contract/console';
import { machineMemory, outlineCheckpoint, type CheckpointOutline } from '@engraft/engine';
import {
  expectedWork,
  recipeOf,
  settledRecipe,
  type ExpectedWork,
  type Recipe,
  type TeacherName,
  type TokenCounts,
} from '@engraft/learning';
import { shippedModelFolder, type Config } from '../config/config.js';
import { onceItSucceeds } from '../onceItSucceeds.js';
import type { PromptMeter } from '../pricing/priceRequest.js';
import { readLearningFiles } from '../startup/learningMethod.js';
import type { LoadedEngine } from '../startup/model.js';
import { estimateMemory } from './estimateMemory.js';
import { learningSeconds } from './learningTime.js';
import { quickSpeeds, type QuickSpeeds } from './quickSpeeds.js';
import { samplePassage } from './sampleTexts.js';

/** The model of this process, for people to look at. */
export interface ModelInUse {
  describe(): Promise<ModelDescription>;
  /** Measured at the first call, within seconds and beside other work. `null` if this process has no engine. */
  speeds(): Promise<ModelSpeeds | null>;
  /** Nobody can say how much a teacher elsewhere will write: `null`. */
  estimate(content: string): Promise<LearningEstimate | null>;
}

interface Loaded {
  readonly meter: PromptMeter;
  readonly engine: LoadedEngine | null;
}

interface Method {
  readonly outline: CheckpointOutline;
  readonly teacher: TeacherName;
  readonly recipe: Recipe;
}

interface Measured {
  readonly speeds: QuickSpeeds;
  readonly measured_at: string;
}

export function openModelInUse(config: Config, { meter, engine }: Loaded): ModelInUse {
  const method = onceItSucceeds(() => readMethod(config));
  const measured = onceItSucceeds(async (): Promise<Measured | null> => {
    if (engine === null) return null;
    return { speeds: await quickSpeeds(engine, (await method()).recipe), measured_at: new Date().toISOString() };
  });
  const counts: TokenCounts = {
    countTokens: async (prompt) => meter.countTokens(prompt),
    describe: () => Promise.resolve(meter),
  };
  return {
    describe: async () => describe(config, await method()),
    speeds: async () => {
      const { teacher, recipe } = await method();
      const found = await measured();
      if (found === null) return null;
      const { speeds, measured_at } = found;
      const work = await expectedWork(counts, teacher, recipe, samplePassage);
      return {
        answer_tokens_per_second: speeds.answering,
        seconds_per_1000_chars: config.teacher === null ? learningSeconds(work, speeds) : null,
        measured_at,
      };
    },
    estimate: async (content) => {
      if (config.teacher !== null) return null;
      const { teacher, recipe } = await method();
      const found = await measured();
      const expected = async (settled: Recipe): Promise<ExpectedCharge> =>
        chargeOf(await expectedWork(counts, teacher, settled, content), found);
      const askedPoorly = settledRecipe(recipe, false);
      return {
        ...(await expected(recipe)),
        with_sentences: askedPoorly === recipe ? null : await expected(askedPoorly),
      };
    },
  };
}

function chargeOf(work: ExpectedWork, measured: Measured | null): ExpectedCharge {
  const usage = {
    input_tokens: Math.ceil(work.readTokens),
    output_tokens: Math.ceil(work.writtenTokens),
    cached_input_tokens: 0,
    training_tokens: Math.ceil(work.trainedTokens),
  };
  return {
    charged_microusd: computeChargeMicrousd(usage, currentPriceCard),
    seconds: measured === null ? null : learningSeconds(work, measured.speeds),
  };
}

/** Reads the small files of the checkpoint. It needs no weights, so a process without an engine can do it, too. */
async function readMethod({ modelFolder, weights }: Config): Promise<Method> {
  const outline = await outlineCheckpoint(modelFolder, weights, Infinity);
  const { preset } = await readLearningFiles(modelFolder);
  return { outline, teacher: preset.teacher, recipe: recipeOf(preset, outline.parameters) };
}

async function describe(config: Config, { outline, teacher, recipe }: Method): Promise<ModelDescription> {
  const { servingBytes, learningBytes } = await estimateMemory(config.modelFolder, config.weights, recipe);
  return {
    name: nameOf(config.modelFolder),
    architecture: outline.architecture,
    parameters: outline.parameters,
    context_tokens: outline.contextLength,
    weights: config.weights,
    teacher: config.teacher === null ? teacher : 'elsewhere',
    teacher_model: config.teacher?.model ?? null,
    serving_bytes: servingBytes,
    learning_bytes: learningBytes,
    machine_bytes: machineMemory(),
  };
}

/** A model from a hub lies in the cache in a folder whose path has its name. */
function nameOf(modelFolder: string): string {
  if (modelFolder === shippedModelFolder) return 'the shipped model';
  const [, owner, name] = /[\\/]models--([^\\/]+?)--([^\\/]+)[\\/]snapshots[\\/]/.exec(modelFolder) ?? [];
  return owner === undefined || name === undefined ? path.basename(modelFolder) : `${owner}/${name}`;
}
