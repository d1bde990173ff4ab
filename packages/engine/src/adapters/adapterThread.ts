/** The thread of an `AdapterLoader`, which starts it. Nothing else does. */
import { workerData } from 'node:worker_threads';
import type { DecoderConfig } from '../model/config.js';
import { answerCalls } from '../support/threadAnswers.js';
import type { LoadRequest } from './adapterLoader.js';
import { loadAdapter, memoryOf, type LoadedAdapter } from './loadedAdapter.js';

// The loader sends the model's configuration once, and load requests after that.
const config = workerData as DecoderConfig;

answerCalls<LoadedAdapter>(
  'an adapter could not be loaded',
  (request) => {
    const { reference, memory } = request as LoadRequest;
    return loadAdapter(reference, config, memory);
  },
  memoryOf,
);
