import { parentPort } from 'node:worker_threads';
import { EngineError } from '../engine.js';
import { endMessage, isThreadRequest, type ThreadAnswer, type ThreadRequest } from './threadCalls.js';

/**
 * Answers the requests of a `ThreadCalls` at the thread's end.
 * @param name the thread's name, which begins the message of an unexpected error.
 * @param handedOver memory of a result that is transferred, not copied.
 * @param free called before the thread ends, to free what is not JavaScript's.
 */
export function answerCalls<Result>(
  name: string,
  answer: (request: unknown) => Promise<Result>,
  handedOver: (result: Result) => readonly ArrayBuffer[] = () => [],
  free: () => Promise<void> = () => Promise.resolve(),
): void {
  const send = (message: ThreadAnswer<Result>, memory: readonly ArrayBuffer[]): void => {
    parentPort?.postMessage(message, memory);
  };
  const reply = async ({ id, request }: ThreadRequest<unknown>): Promise<void> => {
    try {
      const result = await answer(request);
      send({ kind: 'done', id, result }, handedOver(result));
    } catch (error) {
      const { code, message } =
        error instanceof EngineError ? error : { code: 'internal' as const, message: `${name}: ${String(error)}` };
      send({ kind: 'failed', id, code, message }, []);
    }
  };
  parentPort?.on('message', (message: unknown) => {
    if (isThreadRequest(message)) void reply(message);
    // In a worker thread, `process.exit` ends only that thread.
    else if (message === endMessage) void free().finally(() => process.exit());
  });
}
