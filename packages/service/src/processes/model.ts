import { ChatTokenizer, type EngineHost, readContextLength, startEngineHost } from '@engraft/engine';
import { loadReplay, type ReplayRow } from '@engraft/learning';
import type { Logger } from 'pino';
import type { Config } from '../config/config.js';
import type { PromptMeter } from '../pricing/priceRequest.js';

/** What a process needs of the model to count the tokens of prompts: the small files, not the weights. */
export async function loadPromptMeter(model_folder: string): Promise<PromptMeter> {
  const tokenizer = await ChatTokenizer.load(model_folder);
  const contextLength = await readContextLength(model_folder);
  return { countTokens: (prompt) => tokenizer.countTokens(prompt), contextLength };
}

/** An engine that has its model, and what learning rehearses from the model's own training. */
export interface LoadedEngine {
  readonly engine: EngineHost;
  readonly replay: readonly ReplayRow[];
}

/** Rejects with `EngineError` `checkpoint_invalid` when the folder holds no model that the engine can run. */
export async function loadEngine(
  { model_folder }: Pick<Config, 'model_folder'>,
  logger: Logger,
): Promise<LoadedEngine> {
  const replay = await loadReplay(model_folder);
  const engine = await startEngineHost({ modelDir: model_folder, logger });
  engine.onExit(({ pid, code, signal }) => logger.warn({ engine_pid: pid, code, signal }, 'the engine process ended'));
  return { engine, replay };
}
