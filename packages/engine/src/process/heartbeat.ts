import { Worker } from 'node:worker_threads';

/** The pipe to the host, after the standard streams and the channel. */
export const heartbeatDescriptor = 4;

/** What an engine has done since its last beat; each is one byte, so that no beat is cut in two. */
export const beatCodes = {
  /** A run has ended, or a session was made. */
  progressed: 'p',
  /** It has computed. */
  computed: 'c',
  /** Nothing that could be seen. */
  idled: 'i',
} as const;

export type Beat = (typeof beatCodes)[keyof typeof beatCodes];

export interface HeartbeatInputs {
  readonly intervalMs: number;
}

/**
 * Tells the host that this process lives, from a thread of its own: the one that computes is blocked for as long as a
 * run takes. The thread ends with the process, and does not keep it alive.
 */
export function startHeartbeat(intervalMs: number): void {
  const inputs: HeartbeatInputs = { intervalMs };
  const thread = new Worker(new URL('./heartbeatThread.js', import.meta.url), { execArgv: [], workerData: inputs });
  thread.unref();
}
