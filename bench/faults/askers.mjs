// Clients that never give up: they repeat each request with its key until they have a receipt, and read its job until
// it has ended.
import { setTimeout as delay } from 'node:timers/promises';
import { EngraftApiError } from '../../packages/client/dist/index.js';

const clients = 6;
const askedQuestion = 'Who invented the Lume Lamp?';
/** Far longer than anything takes: it proves that there is an end. */
const patienceMs = 900_000;

export class Askers {
  /** Sentences. */
  faults = [];
  #client;
  #passage;
  #receipts = new Map();
  #answered = [];
  #working = [];
  #stopped = false;
  #abandoned = false;

  /** @param client returns the client of the service that runs now */
  constructor(client, passage) {
    this.#client = client;
    this.#passage = passage;
  }

  begin() {
    const kinds = ['learn', ...Array.from({ length: clients }, () => 'ask')];
    this.#working = kinds.map((kind, index) =>
      this.#work(kind, index).catch((error) => this.faults.push(`a client gave up: ${error}`)),
    );
  }

  /** Resolves when a question that is asked from now on was answered. */
  nextAnswer() {
    const beganMs = performance.now();
    return withPatience(
      'an answer',
      new Promise((resolve) => {
        this.#answered.push({ began_ms: beganMs, resolve });
      }),
    );
  }

  /** Asks no more, and resolves when all that was asked has ended. */
  async end() {
    this.#stopped = true;
    await withPatience('the end of all jobs', Promise.all(this.#working));
  }

  /** Asks no more, and waits for nothing: the bench has failed. */
  abandon() {
    [this.#stopped, this.#abandoned] = [true, true];
  }

  receipts() {
    return [...this.#receipts.values()];
  }

  async #work(kind, index) {
    for (let count = 0; !this.#stopped; count += 1) {
      const beganMs = performance.now();
      const key = `client-${index}-${kind}-${count}`;
      const id = await this.#persist(() => this.#send(kind, key));
      // As a client does that does not know whether its request has arrived.
      if (count % 3 === 0) await this.#persist(() => this.#send(kind, key));
      const job = await this.#untilEnded(id);
      const expected = kind === 'ask' ? ['succeeded'] : ['ready', 'rejected'];
      if (!expected.includes(job.status)) this.faults.push(`${id} ended ${job.status}: ${JSON.stringify(job.error)}`);
      const { settled, charged_microusd, reserved_microusd } = job.billing;
      if (!settled || charged_microusd > reserved_microusd) this.faults.push(`${id} is not settled as it must be`);
      if (kind === 'ask') this.#tellAnswered(beganMs);
    }
  }

  async #send(kind, idempotencyKey) {
    const client = this.#client();
    const { id } =
      kind === 'learn'
        ? await client.internalizations.create(
            { subject_id: 'learner', content: this.#passage, max_cost_microusd: 3_000_000 },
            { idempotencyKey },
          )
        : await client.inferences.create(
            { subject_id: 'asker', messages: [{ role: 'user', content: askedQuestion }], max_output_tokens: 24 },
            { idempotencyKey },
          );
    const earlier = this.#receipts.get(idempotencyKey);
    if (earlier !== undefined && earlier !== id) this.faults.push(`${idempotencyKey} was admitted twice`);
    this.#receipts.set(idempotencyKey, id);
    return id;
  }

  async #untilEnded(id) {
    for (;;) {
      const job = await this.#persist(() => this.#client().jobs.get(id));
      if (job.status !== 'queued' && job.status !== 'running') return job;
      await delay(50);
    }
  }

  /** Repeats while the service is away, or busy. */
  async #persist(request) {
    for (;;) {
      if (this.#abandoned) throw new Error('the bench has failed');
      try {
        return await request();
      } catch (error) {
        if (error instanceof EngraftApiError && error.status < 500 && error.status !== 429) throw error;
        await delay(50);
      }
    }
  }

  #tellAnswered(askedMs) {
    const waiting = this.#answered.filter(({ began_ms }) => began_ms <= askedMs);
    this.#answered = this.#answered.filter((each) => !waiting.includes(each));
    for (const { resolve } of waiting) resolve();
  }
}

async function withPatience(what, wanted) {
  const late = new AbortController();
  const tooLate = delay(patienceMs, undefined, { signal: late.signal }).then(
    () => {
      throw new Error(`it did not come to ${what}`);
    },
    () => undefined,
  );
  await Promise.race([wanted, tooLate]);
  late.abort();
}
