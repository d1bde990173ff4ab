import type { ServingEngine, TrainingHost } from '@engraft/engine';

/** The same engine, whose trainings go to another host. Both are closed together. */
export function trainedElsewhere(engine: ServingEngine, trainers: TrainingHost): ServingEngine {
  return {
    get responsive() {
      return engine.responsive;
    },
    get trouble() {
      return engine.trouble;
    },
    onExit: (listener) => engine.onExit(listener),
    onStart: (listener) => engine.onStart(listener),
    describe: () => engine.describe(),
    countTokens: (prompt) => engine.countTokens(prompt),
    encode: (...sequence) => engine.encode(...sequence),
    generate: (...call) => engine.generate(...call),
    score: (...call) => engine.score(...call),
    openTraining: (options) => trainers.openTraining(options),
    forgetPrefixes: (isolationKey) => engine.forgetPrefixes(isolationKey),
    close: async () => {
      await trainers.close();
      await engine.close();
    },
  };
}
