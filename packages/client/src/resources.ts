import {
  activationResult,
  type ActivationRequest,
  type ActivationResult,
  type InferenceRequest,
  type InternalizationRequest,
  type Job,
  job,
  type JobList,
  jobList,
  modelCatalogue,
  type ModelCatalogue,
  receipt,
  type Receipt,
  subjectList,
  type SubjectList,
} from '@engraft/contract';
import { backoffMs, wait } from './backoff.js';
import { EngraftApiError, EngraftConnectionError } from './errors.js';
import type { CallOptions, Send } from './transport.js';

export interface WriteOptions extends CallOptions {
  /**
   * Names the intent: the same key with the same input gives the same job, however often it is sent. The default is
   * random. Give one to be able to ask again after your own crash.
   */
  readonly idempotencyKey?: string;
}

/** The request's own fields. Those with a default may be left out. */
type WithDefaults<Request, Field extends keyof Request> = Omit<Request, Field> & Partial<Pick<Request, Field>>;
export type NewInference = WithDefaults<InferenceRequest, 'max_output_tokens' | 'temperature'>;
export type NewInternalization = WithDefaults<InternalizationRequest, 'activate'>;

/** `POST /v1/inferences` */
export interface Inferences {
  create(request: NewInference, options?: WriteOptions): Promise<Receipt>;
}

/** `POST /v1/internalizations` */
export interface Internalizations {
  create(request: NewInternalization, options?: WriteOptions): Promise<Receipt>;
}

export interface WaitOptions extends CallOptions {
  /** Called with every reading, including the last. */
  readonly onUpdate?: (job: Job) => void;
}

export interface JobPageOptions extends CallOptions {
  /** Jobs on a page, 1-100. The default is 50. */
  readonly limit?: number;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string;
}

/** `GET /v1/jobs/{id}` and `GET /v1/jobs` */
export interface Jobs {
  get(id: string, options?: CallOptions): Promise<Job>;
  /**
   * Reads the job, less and less often, until it has ended or needs an operator. The service may be away for a minute
   * meanwhile, as it is while it starts anew.
   */
  wait(id: string, options?: WaitOptions): Promise<Job>;
  /** One page, newest first. */
  list(options?: JobPageOptions): Promise<JobList>;
  /** Page after page, from `cursor` or from the newest job. Each page is read when it is asked for. */
  pages(options?: JobPageOptions): AsyncIterable<JobList>;
}

/** `GET /v1/models` */
export interface Models {
  list(options?: CallOptions): Promise<ModelCatalogue>;
}

/** `GET /v1/subjects` */
export interface Subjects {
  list(options?: CallOptions): Promise<SubjectList>;
}

/** `POST /v1/adapters/activate` */
export interface Adapters {
  activate(request: ActivationRequest, options?: CallOptions): Promise<ActivationResult>;
}

export function inferencesOf(send: Send): Inferences {
  return { create: (request, options) => submit(send, '/v1/inferences', request, options) };
}

export function internalizationsOf(send: Send): Internalizations {
  return {
    create: (request, options) => submit(send, '/v1/internalizations', request, options),
  };
}

/** One key over all attempts, so that a lost answer never starts the work twice. */
async function submit(
  send: Send,
  path: string,
  body: NewInference | NewInternalization,
  { idempotencyKey = crypto.randomUUID(), ...options }: WriteOptions = {},
): Promise<Receipt> {
  const headers = { 'idempotency-key': idempotencyKey };
  return send({ method: 'POST', path, body, headers, response: receipt, repeatable: true }, options);
}

const minPollMs = 100;
const maxPollMs = 2_000;
const maxAwayMs = 60_000;

export function jobsOf(send: Send): Jobs {
  const get: Jobs['get'] = (id, options) =>
    send({ method: 'GET', path: `/v1/jobs/${encodeURIComponent(id)}`, response: job, repeatable: true }, options);
  const list: Jobs['list'] = ({ limit, cursor, ...options } = {}) => {
    const query = new URLSearchParams({
      ...(limit === undefined ? {} : { limit: String(limit) }),
      ...(cursor === undefined ? {} : { cursor }),
    }).toString();
    const path = query === '' ? '/v1/jobs' : `/v1/jobs?${query}`;
    return send({ method: 'GET', path, response: jobList, repeatable: true }, options);
  };
  return {
    get,
    list,
    pages: async function* (options = {}) {
      let page = await list(options);
      yield page;
      while (page.next_cursor !== null) {
        page = await list({ ...options, cursor: page.next_cursor });
        yield page;
      }
    },
    wait: async (id, { onUpdate, ...options } = {}) => {
      let answeredAtMs = performance.now();
      for (let attempt = 0; ; attempt += 1) {
        const current = await get(id, options).catch((error: unknown) => {
          if (!isAway(error) || performance.now() - answeredAtMs > maxAwayMs) throw error;
          return null;
        });
        if (current !== null) {
          answeredAtMs = performance.now();
          onUpdate?.(current);
          if (current.status !== 'queued' && current.status !== 'running') return current;
        }
        const spreadMs = backoffMs(attempt, { baseMs: minPollMs, maxMs: maxPollMs });
        await wait(Math.max(minPollMs, spreadMs), options.signal);
      }
    },
  };
}

/** Whether the service, or the way to it, may be back soon. A connection error without a cause is a wrong answer. */
function isAway(error: unknown): boolean {
  if (error instanceof EngraftApiError) return error.status >= 500;
  return error instanceof EngraftConnectionError && error.cause !== undefined;
}

export function subjectsOf(send: Send): Subjects {
  return {
    list: (options) => send({ method: 'GET', path: '/v1/subjects', response: subjectList, repeatable: true }, options),
  };
}

export function adaptersOf(send: Send): Adapters {
  return {
    activate: (body, options) =>
      send(
        // Not repeated automatically: after a lost answer the expected version may be the old one for a good reason.
        { method: 'POST', path: '/v1/adapters/activate', body, response: activationResult, repeatable: false },
        options,
      ),
  };
}

export function modelsOf(send: Send): Models {
  return {
    list: (options) => send({ method: 'GET', path: '/v1/models', response: modelCatalogue, repeatable: true }, options),
  };
}
