/** The engine process: started by `EngineProcess`, never by hand. */
import { constants, getPriority, setPriority } from 'node:os';
import { EmbeddedEngine, type EmbeddedEngineOptions } from '../embeddedEngine.js';
import { EngineServer } from './engineServer.js';
import { startHeartbeat } from './heartbeat.js';
import { isHostMessage, toWireError, toWireTrouble, type ChildMessage, type EnginePurpose } from './protocol.js';

// The host gives the interval.
startHeartbeat(Number(process.argv[2]));

let server: EngineServer | undefined;

process.on('message', (message) => {
  if (!isHostMessage(message)) return;
  switch (message.kind) {
    case 'open':
      void open(message.options, message.purpose);
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
// It may have been closed while this file was being loaded.
if (!process.connected) process.exit(0);
// Ctrl-C and many supervisors reach the whole process group; the host decides when its engine ends.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
process.on('warning', report);
// Work under way is lost, but the reason is told.
process.on('uncaughtException', (error) => {
  const end = (): never => process.exit(1);
  if (process.connected && process.send !== undefined) process.send(troubleOf(error), end);
  else end();
});

async function open(options: EmbeddedEngineOptions, purpose: EnginePurpose): Promise<void> {
  try {
    // Before ONNX Runtime makes its threads, because threads inherit the priority of the one that makes them.
    if (purpose === 'training') giveWay();
    server = new EngineServer(await EmbeddedEngine.open(options, purpose), send, report);
    send({ kind: 'ready' });
  } catch (error) {
    send({ kind: 'refused', error: toWireError(error) });
  }
}

/**
 * While both want the cores, Linux gives a process of this niceness a quarter of them (weight 335 against 1024), and
 * the rest to serving; so an answer takes less than twice its time, and training goes on under any load. A greater
 * niceness would starve it wherever other programs keep the machine busy.
 */
const trainingNiceness = 5;

function giveWay(): void {
  try {
    // Added to that of its host, which may itself give way to other programs.
    setPriority(Math.min(constants.priority.PRIORITY_LOW, getPriority() + trainingNiceness));
  } catch (error) {
    // Where priorities cannot be set, training is as right as ever, and only slows serving down more.
    report(error);
  }
}

function send(message: ChildMessage): void {
  // Without a channel there is nobody to answer, and `disconnect` ends the process.
  if (process.connected) process.send?.(message);
}

/** Tells the host, whose logger writes it down. */
function report(error: unknown): void {
  send(troubleOf(error));
}

function troubleOf(error: unknown): ChildMessage {
  return { kind: 'trouble', trouble: toWireTrouble(error) };
}
