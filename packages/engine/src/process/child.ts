/** The engine process, which `EngineProcess` starts. Nothing else does. */
import { readFileSync, writeFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { EmbeddedEngine, type EmbeddedEngineOptions } from '../embeddedEngine.js';
import { EngineServer } from './engineServer.js';
import { startHeartbeat } from './heartbeat.js';
import { isHostMessage, toWireError, toWireTrouble, type ChildMessage, type EnginePurpose } from './protocol.js';

// The host passes the interval.
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

// The channel closes when the host closes it, and also when the host dies in any way. Nobody is left to work for then.
process.on('disconnect', () => process.exit(0));
// It may have closed while this file was being loaded.
if (!process.connected) process.exit(0);
// Ctrl-C and many supervisors signal the whole process group. The host decides when its engine ends.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
process.on('warning', report);
// Running work is lost, but the host learns the reason.
process.on('uncaughtException', (error) => {
  const end = (): never => process.exit(1);
  if (process.connected && process.send !== undefined) process.send(troubleOf(error), end);
  else end();
});

async function open(options: EmbeddedEngineOptions, purpose: EnginePurpose): Promise<void> {
  try {
    // Must come before ONNX Runtime creates its threads, which inherit this priority.
    if (purpose === 'training') giveWay();
    offerMemory(purpose);
    server = new EngineServer(await EmbeddedEngine.open(options, purpose), send, report);
    send({ kind: 'ready' });
  } catch (error) {
    send({ kind: 'refused', error: toWireError(error) });
  }
}

/**
 * While training and serving both want the cores, Linux gives a process of this niceness a quarter of them (weight 335
 * against 1024). So an answer takes less than twice its time, and training goes on under any load. A greater niceness
 * would starve it whenever other programs keep the machine busy.
 */
const trainingNiceness = 5;

function giveWay(): void {
  try {
    // Added to the host's own niceness, because the host may give way to other programs.
    setPriority(Math.min(constants.priority.PRIORITY_LOW, getPriority() + trainingNiceness));
  } catch (error) {
    // If the priority cannot be set, training still works and only slows serving down more.
    report(error);
  }
}

const scoreFile = '/proc/self/oom_score_adj';
const addedScores: Readonly<Record<EnginePurpose, number>> = { serving: 200, training: 400 };
const maxScore = 1_000;

/**
 * When memory runs out, Linux kills the process whose score is highest: rather an engine, which is replaced and whose
 * work is repeated, than the database or the service; and rather a training than answers. Added to the host's own
 * score, because only a privileged process may lower it.
 */
function offerMemory(purpose: EnginePurpose): void {
  if (process.platform !== 'linux') return;
  try {
    const score = Number(readFileSync(scoreFile, 'utf8'));
    writeFileSync(scoreFile, String(Math.min(maxScore, score + addedScores[purpose])));
  } catch (error) {
    report(error);
  }
}

function send(message: ChildMessage): void {
  // Without a channel nobody listens, and `disconnect` ends the process.
  if (process.connected) process.send?.(message);
}

/** Reports an error to the host, which logs it. */
function report(error: unknown): void {
  send(troubleOf(error));
}

function troubleOf(error: unknown): ChildMessage {
  return { kind: 'trouble', trouble: toWireTrouble(error) };
}
