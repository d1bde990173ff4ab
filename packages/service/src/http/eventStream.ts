import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

/** Server-sent events, as the HTML standard defines them. */

export function dataEvent(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/** OpenAI's clients read this as the end. */
export const doneEvent = 'data: [DONE]\n\n';

/** Parsers ignore it, and it keeps connections open. */
export const keepaliveComment = ': keepalive\n\n';

/** Sends what the generator yields, as it comes. The generator ends when the client goes away. */
export function sendEventStream(reply: FastifyReply, events: AsyncGenerator<string, void>): FastifyReply {
  return (
    reply
      .type('text/event-stream; charset=utf-8')
      // A proxy that buffers the response would hold back the keepalives.
      .header('x-accel-buffering', 'no')
      .send(Readable.from(events))
  );
}

/** Yields a keepalive at once and then at every interval until the promise is settled, and returns its value. */
export async function* keepAliveUntil<Value>(promise: Promise<Value>, everyMs: number): AsyncGenerator<string, Value> {
  const settled = promise.then(
    () => true,
    () => true,
  );
  do yield keepaliveComment;
  while (!(await settlesWithin(settled, everyMs)));
  return promise;
}

async function settlesWithin(settled: Promise<boolean>, durationMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, durationMs, false);
  });
  try {
    return await Promise.race([settled, late]);
  } finally {
    clearTimeout(timer);
  }
}
