/** The real engine, watched or with faults injected. */
import { EngineError, type Engine, type TrainingSession } from '@engraft/engine';

export type OpenedTraining = Parameters<Engine['openTraining']>[0];

/** The real engine. It notes how each training session was opened, and the keys that were forgotten before. */
export function notingTrainings(real: Engine, opened: OpenedTraining[], forgotten: string[]): Engine {
  return withMethods(real, {
    openTraining: (options) => {
      opened.push(options);
      return real.openTraining(options);
    },
    forgetPrefixes: (isolationKey) => {
      if (opened.length === 0) forgotten.push(isolationKey);
      return real.forgetPrefixes(isolationKey);
    },
  });
}

/** Not a model of an engine, only of its faults: some calls of the real one are lost. */
export function dyingNowAndThen(real: Engine): Engine {
  let calls = 0;
  const lost = (every: number): void => {
    calls++;
    if (calls % every === 0) throw new EngineError('process_lost', 'the process died');
  };
  let sessions = 0;
  const dyingSession = (session: TrainingSession): TrainingSession => ({
    step: async (batch, rate, options) => {
      lost(5);
      return session.step(batch, rate, options);
    },
    evaluate: (batch, options) => session.evaluate(batch, options),
    save: (...call) => session.save(...call),
    snapshot: (target) => session.snapshot(target),
    close: () => session.close(),
  });
  return withMethods(real, {
    generate: async (request, options) => {
      lost(7);
      return real.generate(request, options);
    },
    score: async (request, options) => {
      lost(7);
      return real.score(request, options);
    },
    openTraining: async (options) => {
      const session = await real.openTraining(options);
      return sessions++ === 0 ? dyingSession(session) : session;
    },
  });
}

function withMethods(real: Engine, changed: Partial<Engine>): Engine {
  return {
    describe: () => real.describe(),
    countTokens: (prompt) => real.countTokens(prompt),
    encode: (...call) => real.encode(...call),
    generate: (request, options) => real.generate(request, options),
    score: (request, options) => real.score(request, options),
    openTraining: (options) => real.openTraining(options),
    forgetPrefixes: (isolationKey) => real.forgetPrefixes(isolationKey),
    close: () => real.close(),
    ...changed,
  };
}

/** The real engine, whose training sessions a test changes. */
export function withSession(real: Engine, change: (session: TrainingSession) => TrainingSession): Engine {
  return withMethods(real, { openTraining: async (options) => change(await real.openTraining(options)) });
}
