import { Worker } from 'node:worker_threads';

/** The file descriptor of the pipe to the host, after the standard streams and the channel. */
export const heartbeatDescriptor = 4;

/** A beat says what the engine did since the last one. It is one byte, so that none is cut in two. */
export const beatCodes = {
  /** A run has ended, or a session was made. */
  progressed: 'p',
  /** It has used processor time. */
  computed: 'c',
  /** It has done nothing visible. */
  idled: 'i',
} as const;

export type Beat = (typeof beatCodes)[keyof typeof beatCodes];

export interface HeartbeatInputs {
  readonly intervalMs: number;
}

/**
 * Shows the host that this process lives. It uses a thread of its own, because the computing thread is blocked during a
 * run. The thread ends with the process and does not keep it alive.
 */
export function startHeartbeat(intervalMs: number): void {
  const inputs: HeartbeatInputs = { intervalMs };
  const thread = new Worker(new URL('./heartbeatThread.js', import.meta.url), { execArgv: [], workerData: inputs });
  thread.unref();
}
