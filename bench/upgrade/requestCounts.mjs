// What became of requests, by the phase in which they were sent.

export class RequestCounts {
  /** Sentences. */
  refusals = new Set();
  #rows = [];
  #enteredMs = 0;

  enter(phase) {
    this.#leave();
    console.log(phase);
    this.#rows.push({ phase, seconds: 0, requests: 0, refused: 0, answers: 0, passages: 0, longest_ms: 0 });
  }

  /** The part of a client that `Askers` use, each of whose requests is counted. */
  counted({ internalizations, inferences, jobs }) {
    const counting = (send) => (request, options) => this.#count(() => send(request, options));
    return {
      internalizations: { create: counting((...args) => internalizations.create(...args)) },
      inferences: { create: counting((...args) => inferences.create(...args)) },
      jobs: {
        get: counting(async (id) => {
          const job = await jobs.get(id);
          if (job.status === 'succeeded') this.#rows.at(-1).answers += 1;
          if (job.status === 'ready' || job.status === 'rejected') this.#rows.at(-1).passages += 1;
          return job;
        }),
      },
    };
  }

  /** @returns {{ phase: string, seconds: number, requests: number, refused: number, answers: number,
   *   passages: number, longest_ms: number }[]} */
  end() {
    this.#leave();
    return this.#rows;
  }

  async #count(send) {
    const row = this.#rows.at(-1);
    const beganMs = performance.now();
    row.requests += 1;
    try {
      return await send();
    } catch (error) {
      row.refused += 1;
      this.refusals.add(`${row.phase}: a request was refused: ${error}`);
      throw error;
    } finally {
      row.longest_ms = Math.max(row.longest_ms, performance.now() - beganMs);
    }
  }

  #leave() {
    const nowMs = performance.now();
    if (this.#rows.length > 0) this.#rows.at(-1).seconds = (nowMs - this.#enteredMs) / 1e3;
    this.#enteredMs = nowMs;
  }
}
