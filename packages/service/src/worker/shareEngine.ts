import { type Engine, EngineError } from '@engraft/engine';

interface Turn {
  readonly alone: boolean;
  readonly begin: () => void;
}

/** Runs calls in their order: side by side, except those that must run alone. */
class Turns {
  readonly #waiting: Turn[] = [];
  #inside = 0;
  #isOneAlone = false;

  /** Resolves with a function that leaves. Rejects with `cancelled` if the signal aborts before. */
  enter(alone: boolean, signal: AbortSignal | undefined): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(turn), 1);
        reject(new EngineError('cancelled', 'the call was cancelled'));
        this.#beginNext();
      };
      const begin = (): void => {
        signal?.removeEventListener('abort', abort);
        resolve(() => this.#leave());
      };
      const turn = { alone, begin };
      this.#waiting.push(turn);
      signal?.addEventListener('abort', abort, { once: true });
      if (signal?.aborted === true) abort();
      else this.#beginNext();
    });
  }

  #leave(): void {
    this.#inside -= 1;
    this.#isOneAlone = false;
    this.#beginNext();
  }

  #beginNext(): void {
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined || this.#isOneAlone || (next.alone && this.#inside > 0)) return;
      this.#waiting.shift();
      this.#inside += 1;
      this.#isOneAlone = next.alone;
      next.begin();
    }
  }
}

/**
 * Shares an engine among jobs, each of which gets what this returns. A call that was lost may have killed the process,
 * alone or in a run with others. So the job's later calls have the engine to themselves: what kills it takes nobody
 * else with it a second time, and its bystanders succeed. `suspect` says that workers have already died with the job.
 */
export function shareEngine(engine: Engine): (suspect: boolean) => Engine {
  const turns = new Turns();
  return (suspect) => {
    let alone = suspect;
    const call = async <Result>(work: () => Promise<Result>, signal: AbortSignal | undefined): Promise<Result> => {
      const leave = await turns.enter(alone, signal);
      try {
        return await work();
      } catch (error) {
        alone ||= error instanceof EngineError && error.repeatable;
        throw error;
      } finally {
        leave();
      }
    };
    return {
      describe: () => engine.describe(),
      countTokens: (prompt) => engine.countTokens(prompt),
      encode: (...sequence) => engine.encode(...sequence),
      generate: (request, options) => call(() => engine.generate(request, options), options?.signal),
      score: (request, options) => call(() => engine.score(request, options), options?.signal),
      openTraining: (options) => engine.openTraining(options),
      forgetPrefixes: (isolationKey) => engine.forgetPrefixes(isolationKey),
      close: () => engine.close(),
    };
  };
}
