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
import { openTeacherServer } from '../teacherServer/teacherServer.js';
import { learningMethod, readLearningFiles } from './learningMethod.js';

/** What a process needs of the model to count the tokens of prompts: the small files, not the weights. */
export async function loadPromptMeter(model_folder: string): Promise<PromptMeter> {
  const counter = await PromptCounter.open(model_folder);
  const contextLength = await readContextLength(model_folder);
  return { countTokens: (prompt) => counter.countTokens(prompt), contextLength };
}

/** An engine that has its model, and how the model learns. */
export interface LoadedEngine {
  readonly engine: EngineHost;
  /** What the teacher asks with; `null`: the model itself. */
  readonly teachingAdapter: AdapterReference | null;
  /** May ask the model for what it is to rehearse, so only when a passage is to be learned. */
  readonly method: () => Promise<LearningMethod>;
}

/** What the configuration says about the engine and its memory. */
export type EngineConfig = Pick<
  Config,
  'model_folder' | 'data_folder' | 'weights' | 'cache_bytes' | 'adapter_bytes' | 'teacher'
>;

/**
 * Rejects with `EngineError` `checkpoint_invalid` when the folder holds no model that the engine can run, and when what
 * lies beside it for learning is damaged.
 */
export async function loadEngine(
  { model_folder, data_folder, weights, cache_bytes, adapter_bytes, teacher }: EngineConfig,
  logger: Logger,
): Promise<LoadedEngine> {
  const files = await readLearningFiles(model_folder);
  const { teacher: own, teachingAdapter: teaching_adapter } = files.preset;
  const teaching = teacher === null ? { teacher: own } : { teacher: 'remote', url: teacher.url, model: teacher.model };
  logger.info({ ...teaching, teaching_adapter }, 'how passages are taught');
  const elsewhere = teacher === null ? null : openTeacherServer(teacher);
  const engine = await startEngineHost({
    modelDir: model_folder,
    weightFormat: weights,
    cacheFolder: path.join(data_folder, 'weights'),
    ...(cache_bytes === null ? {} : { maxCacheBytes: cache_bytes }),
    ...(adapter_bytes === null ? {} : { maxAdapterBytes: adapter_bytes }),
    logger,
  });
  const method = onceItSucceeds(() =>
    learningMethod(engine, files, undefined, elsewhere, path.join(data_folder, 'replay')),
  );
  return { engine, teachingAdapter: files.adapter, method };
}

/** The same promise for all callers; after a failure the next one tries again. */
function onceItSucceeds<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = null;
      throw error;
    });
    return made;
  };
}
