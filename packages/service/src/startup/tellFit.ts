import { machineMemory } from '@engraft/engine';
import type { Logger } from 'pino';
import { estimateFit } from '../models/estimateFit.js';
import { fitSentences } from '../models/fitSentences.js';
import type { EngineConfig, LoadedEngine } from './model.js';

/** Tells whoever has just installed the service what its model needs. Never rejects, since nothing depends on it. */
export async function tellFit(config: EngineConfig, loaded: LoadedEngine, logger: Logger): Promise<void> {
  try {
    const fit = await estimateFit(config, loaded);
    const { servingBytes, learningBytes } = fit.memory;
    const secondsPer1000Chars = Math.round(fit.secondsPerThousandCharacters);
    const sentences = [...fitSentences(fit, machineMemory()), '`engraft model check` measures it.'];
    logger.info(
      { serving_bytes: servingBytes, learning_bytes: learningBytes, seconds_per_1000_chars: secondsPer1000Chars },
      sentences.join(' '),
    );
  } catch (error) {
    logger.debug({ err: error }, 'the memory and time that the model takes could not be estimated');
  }
}
