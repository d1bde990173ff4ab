/** What the threads of a process have got done, for a thread that watches the others. */
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';

const environmentKey = '@engraft/engine: progress';

/** In memory of all threads: one that is started finds what the thread has that starts it. */
const marks = ofProcess();

/** A run has ended, or a session is ready. */
export function markProgress(): void {
  Atomics.add(marks, 0, 1);
}

/** How often progress was marked by any thread; it begins anew after 2³² marks. */
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
