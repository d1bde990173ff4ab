/** The thread of an engine's heartbeat, which `startHeartbeat` starts. Nothing else does. */
import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { progressMarks } from '../support/progress.js';
import { beatCodes, heartbeatDescriptor, type Beat, type HeartbeatInputs } from './heartbeat.js';

/**
 * Processor time that proves a computation. An idle process uses that much in half an hour, for this thread. A
 * computing one uses it within two minutes, even with a hundredth of a core.
 */
const computedMs = 1_000;

// The starter sends nothing else.
const { intervalMs } = workerData as HeartbeatInputs;

let seenMarks = progressMarks();
let seenCpuMs = cpuMs();

const timer = setInterval(() => {
  try {
    writeSync(heartbeatDescriptor, nextBeat());
  } catch {
    // The host is gone, and this process is about to end.
    clearInterval(timer);
  }
}, intervalMs);

function nextBeat(): Beat {
  const [marks, cpu] = [progressMarks(), cpuMs()];
  const progressed = marks !== seenMarks;
  if (!progressed && cpu - seenCpuMs < computedMs) return beatCodes.idled;
  [seenMarks, seenCpuMs] = [marks, cpu];
  return progressed ? beatCodes.progressed : beatCodes.computed;
}

/** CPU time of all threads of the process. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
