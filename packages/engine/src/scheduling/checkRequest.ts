import { EngineError } from '../engine.js';
import type { GenerateRequest } from '../types.js';
import { mayCallTools } from '../output/reply.js';

/** @throws EngineError `invalid_request`, naming the field and what is allowed. */
export function checkRequest(request: GenerateRequest): void {
  const refuse = (message: string): never => {
    throw new EngineError('invalid_request', message);
  };
  const { maxOutputTokens, temperature, minP = 0, seed, toolChoice, isolationKey } = request;
  if (!Number.isSafeInteger(maxOutputTokens) || maxOutputTokens < 1)
    refuse('maxOutputTokens must be a whole number of at least 1');
  if (!Number.isFinite(temperature) || temperature < 0) refuse('temperature must be a number of at least 0');
  if (!(minP >= 0 && minP <= 1)) refuse('minP must be a number from 0 to 1');
  if (isolationKey === '') refuse('isolationKey must not be empty; leave it out to share nothing');
  if (seed !== undefined && !Number.isSafeInteger(seed)) refuse('seed must be a whole number');
  if (toolChoice?.kind === 'required' && !mayCallTools(request))
    refuse('toolChoice asks for a call, but there are no tools');
  if (toolChoice?.kind === 'function' && request.prompt.tools?.some(({ name }) => name === toolChoice.name) !== true) {
    refuse(`toolChoice names ${JSON.stringify(toolChoice.name)}, which is not among the tools`);
  }
}
