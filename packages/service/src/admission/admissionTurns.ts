/** How many admissions of one project this process makes at once: one is checked while another holds the balance. */
const atOnce = 2;

interface Turns {
  taken: number;
  /** In the order in which they came. */
  readonly waiting: (() => void)[];
}

/**
 * Lets the admissions of a project wait here rather than in the database. There each would hold a connection and wait
 * for the lock on the project's balance, and the jobs that end would wait behind all of them.
 */
export class AdmissionTurns {
  readonly #projects = new Map<string, Turns>();

  /** Whether an admission that comes now has to wait. */
  areTaken(projectId: string): boolean {
    return this.#projects.get(projectId)?.taken === atOnce;
  }

  /** Does the work when it is the project's turn. */
  async take<Outcome>(projectId: string, work: () => Promise<Outcome>): Promise<Outcome> {
    const turns = this.#turnsOf(projectId);
    if (turns.taken < atOnce) turns.taken += 1;
    else await new Promise<void>((resolve) => turns.waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = turns.waiting.shift();
      if (next === undefined) this.#giveBack(projectId, turns);
      else next();
    }
  }

  #turnsOf(projectId: string): Turns {
    const known = this.#projects.get(projectId);
    if (known !== undefined) return known;
    const turns: Turns = { taken: 0, waiting: [] };
    this.#projects.set(projectId, turns);
    return turns;
  }

  #giveBack(projectId: string, turns: Turns): void {
    turns.taken -= 1;
    if (turns.taken === 0) this.#projects.delete(projectId);
  }
}
