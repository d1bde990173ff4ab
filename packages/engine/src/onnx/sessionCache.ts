import type { Session } from './session.js';

/** Sessions made when they are first needed, once however many ask at the same time, and freed together. */
export class SessionCache<Key> {
  private readonly sessions = new Map<Key, Promise<Session>>();

  get(key: Key, create: () => Promise<Session>): Promise<Session> {
    let session = this.sessions.get(key);
    if (session === undefined) {
      session = create();
      this.sessions.set(key, session);
      // Who asks again has it made again.
      void session.catch(() => this.sessions.delete(key));
    }
    return session;
  }

  /** Call it only when nothing uses the sessions any more. */
  async close(): Promise<void> {
    const outcomes = await Promise.allSettled(this.sessions.values());
    this.sessions.clear();
    for (const outcome of outcomes) if (outcome.status === 'fulfilled') outcome.value.release();
  }
}
