// What the pipeline asks the engine to train of a passage: every step's rows and rate, without training them.
import { learnPassage } from '../../packages/learning/dist/index.js';
import { scoringSchema } from '../../packages/learning/dist/parts.js';

/**
 * Teaches and scores a passage with the engine. `null` if there is nothing to train.
 * @param {import('../../packages/engine/dist/index.js').Engine} engine
 * @param {import('../../packages/learning/dist/index.js').LearningInput} input
 * @returns the scoring's outcome, the options of the training, `{ batch, rate }` for each step, and seconds by phase
 */
export async function recordTraining(engine, input, options = {}) {
  const recording = new Recording();
  const journal = new ShortJournal();
  try {
    await learnPassage(recordingEngine(engine, recording), input, journal, options);
  } catch (error) {
    if (error !== journal.end) throw error;
  }
  const { options: training, steps } = recording;
  if (training === null) return null;
  return { scoring: journal.scoring, options: training, steps, phaseSeconds: journal.phaseSeconds };
}

/** The engine, but for trainings. Every other call goes through, so that none can be missing. */
export function recordingEngine(engine, recording) {
  return new Proxy(engine, {
    get: (target, name) => {
      if (name === 'openTraining') return async (options) => recording.open(options);
      const value = target[name];
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** A training session that only keeps what it is asked for. */
export class Recording {
  options = null;
  steps = [];
  #devLoss = 1;

  open(options) {
    this.options = options;
    this.steps = [];
    return this;
  }

  async step(batch, rate) {
    this.steps.push({ batch, rate });
    return { loss: 1, tokens: tokensOf(batch), gradientNorm: 0 };
  }

  /** Ever better, so that no training ends early. */
  async evaluate(batch) {
    this.#devLoss /= 2;
    return { loss: this.#devLoss, tokens: tokensOf(batch), gradientNorm: 0 };
  }

  async save(folder) {
    return { folder, contentHash: '', sizeBytes: 0 };
  }

  async snapshot() {}

  async close() {}
}

export function tokensOf(batch) {
  return batch.reduce((sum, { sequence }) => sum + sequence.tokens.length, 0);
}

/** Ends a job when its training is over. */
class ShortJournal {
  end = new Error('the training is recorded');
  scoring = null;
  phaseSeconds = {};
  #enteredAt = 0;

  async load() {
    return null;
  }

  async entered(phase) {
    if (phase === 'evaluating') throw this.end;
    this.#enteredAt = performance.now();
  }

  async store(phase, { outcome }) {
    this.phaseSeconds[phase] = (performance.now() - this.#enteredAt) / 1e3;
    if (phase === 'scoring') this.scoring = scoringSchema.parse(outcome);
  }
}
