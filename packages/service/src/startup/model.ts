import {
  type AdapterReference,
  type EngineHost,
  type EngineHostOptions,
  openTrainingHost,
  PromptCounter,
  readContextLength,
  type ServingEngine,
  startEngineHost,
  type TrainingHost,
} from '@engraft/engine';
import type { LearningMethod } from '@engraft/learning';
import path from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../config/config.js';
import type { PromptMeter } from '../pricing/priceRequest.js';
import { onceItSucceeds } from '../onceItSucceeds.js';
import { openTeacherServer } from '../teacherServer/teacherServer.js';
import { learningMethod, readLearningFiles } from './learningMethod.js';
import { trainedElsewhere } from './trainedElsewhere.js';

/** Loads what counts the tokens of prompts: the small files of the model, not the weights. */
export async function loadPromptMeter(modelFolder: string): Promise<PromptMeter> {
  const counter = await PromptCounter.open(modelFolder);
  const contextLength = await readContextLength(modelFolder);
  return { countTokens: (prompt) => counter.countTokens(prompt), contextLength };
}

/** An engine with its model, and how the model learns. */
export interface LoadedEngine<Running extends ServingEngine = ServingEngine> {
  readonly engine: Running;
  /** The adapter with which the teacher asks, or `null` for the model itself. */
  readonly teachingAdapter: AdapterReference | null;
  /** May ask the model for replies to rehearse, so it is called only when a passage will be learned. */
  readonly method: () => Promise<LearningMethod>;
}

/** The settings of the engine and its memory. */
export type EngineConfig = Pick<
  Config,
  'modelFolder' | 'dataFolder' | 'weights' | 'cacheBytes' | 'adapterBytes' | 'teacher'
>;

/**
 * The engine that the settings ask for: the embedded one or vLLM servers answer and score, and the embedded one or
 * trainers train.
 * @throws EngineError as `loadEngine`, and if a vLLM server or a trainer is not what it should be
 */
export async function loadServing(
  config: EngineConfig & Pick<Config, 'vllm' | 'trainerUrls'>,
  logger: Logger,
): Promise<LoadedEngine> {
  const { vllm, modelFolder: modelDir, trainerUrls } = config;
  if (vllm === null && trainerUrls === null) return loadEngine(config, logger);
  return withMethod(config, vllm === null ? config.weights : 'vllm', logger, async () => {
    const trainers = trainerUrls === null ? null : await openTrainers(modelDir, trainerUrls, logger);
    if (vllm === null) return servingWith(config, trainers, logger);
    const { openVllmEngine } = await import('@engraft/engine-vllm');
    const { urls, adapterFolder, maxAdapters } = vllm;
    const trainer = openTrainingHost(hostOptions(config, logger));
    const training = { trainer, ...(trainers === null ? {} : { trainers }) };
    return openVllmEngine({ modelDir, urls, adapterFolder, ...training, logger, limits: { maxNames: maxAdapters } });
  });
}

async function openTrainers(modelDir: string, urls: readonly string[], logger: Logger): Promise<TrainingHost> {
  const { openPeftTrainers } = await import('@engraft/trainer-peft');
  return openPeftTrainers({ modelDir, urls, logger });
}

/** The embedded engine, whose trainings go to `trainers`. */
async function servingWith(
  config: EngineConfig,
  trainers: TrainingHost | null,
  logger: Logger,
): Promise<ServingEngine> {
  try {
    const host = await startEngineHost(hostOptions(config, logger));
    return trainers === null ? host : trainedElsewhere(host, trainers);
  } catch (error) {
    await trainers?.close();
    throw error;
  }
}

/**
 * The embedded engine. Rejects with `EngineError` `checkpoint_invalid` if the folder holds no model that it can run, or
 * if the files beside it for learning are damaged.
 */
export function loadEngine(config: EngineConfig, logger: Logger): Promise<LoadedEngine<EngineHost>> {
  return withMethod(config, config.weights, logger, () => startEngineHost(hostOptions(config, logger)));
}

function hostOptions(
  { modelFolder, dataFolder, weights, cacheBytes, adapterBytes }: EngineConfig,
  logger: Logger,
): EngineHostOptions {
  return {
    modelDir: modelFolder,
    weightFormat: weights,
    cacheFolder: path.join(dataFolder, 'weights'),
    ...(cacheBytes === null ? {} : { maxCacheBytes: cacheBytes }),
    ...(adapterBytes === null ? {} : { maxAdapterBytes: adapterBytes }),
    logger,
  };
}

/** `computedAs` names the numbers that the model computes with, since its replies depend on them. */
async function withMethod<Running extends ServingEngine>(
  { modelFolder, dataFolder, teacher }: EngineConfig,
  computedAs: string,
  logger: Logger,
  start: () => Promise<Running>,
): Promise<LoadedEngine<Running>> {
  const files = await readLearningFiles(modelFolder);
  const { teacher: own, teachingAdapter } = files.preset;
  const teaching = teacher === null ? { teacher: own } : { teacher: 'remote', url: teacher.url, model: teacher.model };
  logger.info({ ...teaching, teaching_adapter: teachingAdapter }, 'how passages are taught');
  const elsewhere = teacher === null ? null : openTeacherServer(teacher);
  const engine = await start();
  const method = onceItSucceeds(() =>
    learningMethod(engine, files, undefined, elsewhere, path.join(dataFolder, 'replay', computedAs)),
  );
  return { engine, teachingAdapter: files.adapter, method };
}
