import { EngineError } from '@engraft/engine';

/** No process for training can be started. The one that answers may still be well. */
export class NoTrainingProcess extends EngineError {
  constructor(cause: EngineError) {
    super('not_running', cause.message, { cause });
  }
}
