/** Counts the progress of a process's threads, for a thread that watches the others. */
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';

const environmentKey = '@engraft/engine: progress';

/** In memory that all threads share. A new thread finds its starter's memory. */
const marks = ofProcess();

/** Call it when a run has ended or a session is ready. */
export function markProgress(): void {
  Atomics.add(marks, 0, 1);
}

/** The number of marks by all threads. It wraps around after 2³² marks. */
export function progressMarks(): number {
  return Atomics.load(marks, 0);
}

function ofProcess(): Int32Array {
  const known = getEnvironmentData(environmentKey);
  if (known instanceof Int32Array) return known;
  const made = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  setEnvironmentData(environmentKey, made);
  return made;
}
