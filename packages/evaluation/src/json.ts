/** Reads JSON from outside, and names the fields that a schema refuses. */

/** Damaged JSON becomes `undefined`, which every schema refuses. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** A path such as `questions[2].answers`. */
export function fieldPath(path: readonly PropertyKey[]): string {
  const parts = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`));
  return parts.join('').replace(/^\./u, '');
}
