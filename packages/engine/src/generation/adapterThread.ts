/** The thread of an `AdapterLoader`: started by it, never by hand. */
import { parentPort } from 'node:worker_threads';
import { EngineError } from '../engine.js';
import { isThreadRequest, type ThreadAnswer, type ThreadRequest } from './adapterThreadMessages.js';
import { loadAdapter, memoryOf } from './loadedAdapter.js';

parentPort?.on('message', (message: unknown) => {
  if (isThreadRequest(message)) void answer(message);
});

async function answer({ id, reference, config }: ThreadRequest): Promise<void> {
  try {
    const adapter = await loadAdapter(reference, config);
    // Handed over, not copied.
    send({ kind: 'loaded', id, adapter }, memoryOf(adapter));
  } catch (error) {
    const { code, message } =
      error instanceof EngineError
        ? error
        : { code: 'internal' as const, message: `an adapter could not be loaded: ${String(error)}` };
    send({ kind: 'failed', id, code, message }, []);
  }
}

function send(message: ThreadAnswer, memory: readonly ArrayBuffer[]): void {
  parentPort?.postMessage(message, memory);
}
