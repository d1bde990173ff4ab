/** The thread of an `AdapterLoader`: started by it, never by hand. */
import { workerData } from 'node:worker_threads';
import type { DecoderConfig } from '../model/config.js';
import { answerCalls } from '../support/threadAnswers.js';
import type { LoadRequest } from './adapterLoader.js';
import { loadAdapter, memoryOf, type LoadedAdapter } from './loadedAdapter.js';

// The model that the adapters must fit. The loader gives and asks for nothing else.
const config = workerData as DecoderConfig;

answerCalls<LoadedAdapter>(
  'an adapter could not be loaded',
  (request) => {
    const { reference, room } = request as LoadRequest;
    return loadAdapter(reference, config, room);
  },
  memoryOf,
);
