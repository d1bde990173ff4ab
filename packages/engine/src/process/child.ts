/** The engine process: started by `EngineProcess`, never by hand. */
import { inspect } from 'node:util';
import { EmbeddedEngine, type EmbeddedEngineOptions } from '../embeddedEngine.js';
import { EngineServer } from './engineServer.js';
import { isHostMessage, toWireError, type ChildMessage } from './protocol.js';

let server: EngineServer | undefined;

process.on('message', (message) => {
  if (!isHostMessage(message)) return;
  switch (message.kind) {
    case 'open':
      void open(message.options);
      break;
    case 'call':
      server?.accept(message);
      break;
    case 'cancel':
      server?.cancel(message.id);
      break;
  }
});

// The channel closes when the host closes it and when the host dies, however it dies: nobody is left to work for.
process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
// Ctrl-C reaches the whole process group; the host decides when its engine ends.
process.on('SIGINT', () => undefined);

async function open(options: EmbeddedEngineOptions): Promise<void> {
  try {
    server = new EngineServer(await EmbeddedEngine.open(options), send, logError);
    send({ kind: 'ready' });
  } catch (error) {
    send({ kind: 'refused', error: toWireError(error) });
  }
}

function send(message: ChildMessage): void {
  // Without a channel there is nobody to answer, and `disconnect` ends the process.
  if (process.connected) process.send?.(message);
}

function logError(error: unknown): void {
  process.stderr.write(`${inspect(error)}\n`);
}
