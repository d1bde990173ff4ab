import { EngineError } from '../engine.js';
import type { EngineHost, EngineHostOptions } from './hostTypes.js';

/** Starts an engine process and resolves when its model is loaded. */
export function startEngineHost(options: EngineHostOptions): Promise<EngineHost> {
  return Promise.reject(new EngineError('internal', `not yet implemented: ${options.modelDir}`));
}
