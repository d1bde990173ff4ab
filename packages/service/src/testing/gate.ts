/** A point where the work of a run waits until a test lets it go on. */
export class Gate {
  #waiting: { readonly go: () => void; readonly fail: (error: Error) => void }[] = [];
  #arrived: () => void = () => undefined;

  /** The work awaits it. */
  pass(): Promise<void> {
    return new Promise((go, fail) => {
      this.#waiting.push({ go, fail });
      this.#arrived();
    });
  }

  /** Resolves when some of the work waits. */
  reached(): Promise<void> {
    if (this.#waiting.length > 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#arrived = resolve;
    });
  }

  /** Lets the waiting work go on, or makes it fail. */
  open(error?: Error): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { go, fail } of waiting) {
      if (error === undefined) go();
      else fail(error);
    }
  }
}
