import type { Session } from './session.js';

/** Sessions that are made on first use, once for all simultaneous callers, and freed together. */
export class SessionCache<Key> {
  private readonly sessions = new Map<Key, Promise<Session>>();

  get(key: Key, create: () => Promise<Session>): Promise<Session> {
    let session = this.sessions.get(key);
    if (session === undefined) {
      session = create();
      this.sessions.set(key, session);
      // After a failure the next caller tries again.
      void session.catch(() => this.sessions.delete(key));
    }
    return session;
  }

  /** Call it only when nothing uses the sessions any more. Who asks for one afterwards gets a new one. */
  async close(): Promise<void> {
    const sessions = [...this.sessions.values()];
    this.sessions.clear();
    const outcomes = await Promise.allSettled(sessions);
    for (const outcome of outcomes) if (outcome.status === 'fulfilled') outcome.value.release();
  }
}
