import {
  type AdapterReference,
  type EngineHost,
  PromptCounter,
  readContextLength,
  startEngineHost,
} from '@engraft/engine';
import type { LearningMethod } from '@engraft/learning';
import path from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../config/config.js';
import type { PromptMeter } from '../pricing/priceRequest.js';
import { onceItSucceeds } from '../onceItSucceeds.js';
import { openTeacherServer } from '../teacherServer/teacherServer.js';
import { learningMethod, readLearningFiles } from './learningMethod.js';

/** Loads what counts the tokens of prompts: the small files of the model, not the weights. */
export async function loadPromptMeter(modelFolder: string): Promise<PromptMeter> {
  const counter = await PromptCounter.open(modelFolder);
  const contextLength = await readContextLength(modelFolder);
  return { countTokens: (prompt) => counter.countTokens(prompt), contextLength };
}

/** An engine with its model, and how the model learns. */
export interface LoadedEngine {
  readonly engine: EngineHost;
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
 * Rejects with `EngineError` `checkpoint_invalid` if the folder holds no model that the engine can run, or if the files
 * beside it for learning are damaged.
 */
export async function loadEngine(
  { modelFolder, dataFolder, weights, cacheBytes, adapterBytes, teacher }: EngineConfig,
  logger: Logger,
): Promise<LoadedEngine> {
  const files = await readLearningFiles(modelFolder);
  const { teacher: own, teachingAdapter } = files.preset;
  const teaching = teacher === null ? { teacher: own } : { teacher: 'remote', url: teacher.url, model: teacher.model };
  logger.info({ ...teaching, teaching_adapter: teachingAdapter }, 'how passages are taught');
  const elsewhere = teacher === null ? null : openTeacherServer(teacher);
  const engine = await startEngineHost({
    modelDir: modelFolder,
    weightFormat: weights,
    cacheFolder: path.join(dataFolder, 'weights'),
    ...(cacheBytes === null ? {} : { maxCacheBytes: cacheBytes }),
    ...(adapterBytes === null ? {} : { maxAdapterBytes: adapterBytes }),
    logger,
  });
  const method = onceItSucceeds(() =>
    learningMethod(engine, files, undefined, elsewhere, path.join(dataFolder, 'replay')),
  );
  return { engine, teachingAdapter: files.adapter, method };
}
