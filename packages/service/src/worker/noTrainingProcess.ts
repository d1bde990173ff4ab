import { EngineError } from '@engraft/engine';

/** No process can be started to train in, while the one that answers may be well. */
export class NoTrainingProcess extends EngineError {
  constructor(cause: EngineError) {
    super('not_running', cause.message, { cause });
  }
}
