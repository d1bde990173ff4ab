import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** Far more than clients with a key need, and far fewer than the files that a process may open. */
export const maxConnections = 10_000;
/** Clients that keep sending on one connection do so within this time. */
const leavingMs = 1_000;
const pollMs = 25;

/**
 * Closes a connection beyond the limit at once. Then connections on which nothing is under way make room for the next.
 */
export function limitConnections(server: Server): void {
  server.maxConnections = maxConnections;
  server.on('drop', () => server.closeIdleConnections());
}

/**
 * For a server that is about to close. Resolves when its clients have left, or a second later. Closing an idle
 * connection resets a request that is on its way on it. Until then such a request is answered, and told that the
 * connection ends.
 */
export async function untilLeft(server: Server): Promise<void> {
  const deadlineMs = performance.now() + leavingMs;
  while (performance.now() < deadlineMs) {
    if (!server.listening || (await countConnections(server)) === 0) return;
    await sleep(pollMs);
  }
}

/** A client that is answered while the service stops must not keep it open by staying silent. */
export function endConnectionsOnceAnswered(app: FastifyInstance, isClosing: () => boolean): void {
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (isClosing()) void reply.header('connection', 'close');
    done();
  });
  app.addHook('onResponse', ({ raw: { socket } }, _reply, done) => {
    // The head of a stream was sent before the stop was known. In memory there is no socket to end.
    if (isClosing() && 'destroySoon' in socket) setImmediate(() => socket.destroySoon());
    done();
  });
}

function countConnections(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => {
      if (error === null) resolve(count);
      else reject(error);
    });
  });
}
