import { type Chat, chatOf } from './chat.js';
import {
  type Adapters,
  adaptersOf,
  type Inferences,
  inferencesOf,
  type Internalizations,
  internalizationsOf,
  type Jobs,
  jobsOf,
  type Models,
  modelsOf,
  type Subjects,
  subjectsOf,
} from './resources.js';
import { type ClientOptions, createTransport } from './transport.js';

/**
 * The HTTP API, typed. Rejects with `EngraftApiError` if the service refuses, with `EngraftConnectionError` if there is
 * no usable answer, and with the signal's reason if it aborts.
 */
export class EngraftClient {
  readonly chat: Chat;
  readonly inferences: Inferences;
  readonly internalizations: Internalizations;
  readonly jobs: Jobs;
  readonly subjects: Subjects;
  readonly adapters: Adapters;
  readonly models: Models;

  constructor(options: ClientOptions) {
    const transport = createTransport(options);
    const { send } = transport;
    this.chat = chatOf(transport);
    this.inferences = inferencesOf(send);
    this.internalizations = internalizationsOf(send);
    this.jobs = jobsOf(send);
    this.subjects = subjectsOf(send);
    this.adapters = adaptersOf(send);
    this.models = modelsOf(send);
  }
}
