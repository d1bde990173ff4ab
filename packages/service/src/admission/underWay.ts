/**
 * The requests that this process has under way: they wait to be admitted, or for the answer of their job. So there are
 * as many open jobs, or soon will be, and more if others make some.
 */
export class UnderWay {
  readonly #ofProjects = new Map<string, number>();
  #all = 0;

  /** Counts one more. The caller says when it is answered, or when its client has gone. */
  begin(projectId: string): () => void {
    this.#add(projectId, 1);
    return () => this.#add(projectId, -1);
  }

  /** The caller's own request included, if it has begun. */
  counts(projectId: string): { readonly of_project: number; readonly of_service: number } {
    return { of_project: this.#ofProjects.get(projectId) ?? 0, of_service: this.#all };
  }

  #add(projectId: string, difference: number): void {
    this.#all += difference;
    const count = (this.#ofProjects.get(projectId) ?? 0) + difference;
    if (count === 0) this.#ofProjects.delete(projectId);
    else this.#ofProjects.set(projectId, count);
  }
}
