import { EngineError } from '@engraft/engine';
import type { Logger } from 'pino';
import type { Execution } from '../admission/admitJob.js';
import type { Config } from '../config/config.js';
import type { PromptMeter } from '../pricing/priceRequest.js';
import { type LoadedEngine, loadPromptMeter, loadServing } from './model.js';

/** The part of the model that a process has. */
export type ModelState =
  | { readonly kind: 'loaded'; readonly meter: PromptMeter; readonly engine: LoadedEngine | null }
  /** "No model or engine is configured": requests for model work are refused, and the rest is served. */
  | { readonly kind: 'missing'; readonly reason: string }
  /** The hosted preview. */
  | { readonly kind: 'off' };

/** Loads what this process needs: the tokenizer to admit jobs, and the engine to run them. */
export async function loadModel(config: Config, withEngine: boolean, logger: Logger): Promise<ModelState> {
  if (config.engine === 'off') return { kind: 'off' };
  try {
    const meter = await loadPromptMeter(config.modelFolder);
    const engine = withEngine ? await loadServing(config, logger) : null;
    return { kind: 'loaded', meter, engine };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { kind: 'missing', reason: error.message };
  }
}

const executions = { loaded: 'on', missing: 'not_configured', off: 'off' } as const satisfies Record<
  ModelState['kind'],
  Execution
>;

/** The model as admission sees it. */
export function admissionOf(model: ModelState): PromptMeter & { readonly execution: Execution } {
  const execution = executions[model.kind];
  if (model.kind === 'loaded') return { ...model.meter, execution };
  const unreachable = (): never => {
    throw new Error('prompts are not measured while no model work is taken');
  };
  return { execution, countTokens: unreachable, contextLength: 0 };
}

/** Names what is missing before model work can be done. Empty if nothing is. */
export function missingOf(model: ModelState): string[] {
  if (model.kind === 'missing') return [`model: ${model.reason}`];
  if (model.kind !== 'loaded' || model.engine === null) return [];
  const { trouble } = model.engine.engine;
  return trouble === null ? [] : [`engine: ${trouble}`];
}
