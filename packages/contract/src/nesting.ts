/**
 * How deep a caller's value may nest: a tool's JSON Schema, or the arguments of a call. The API document names no
 * number. Every consumer of the value recurses, and a body of 100,000 bytes could nest deeper than their stacks.
 */
export const maxNestingLevels = 100;

/** The message about a value that is refused. */
export const nestingProblem = `nested deeper than ${maxNestingLevels} levels`;

export function nestsAtMost(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => nestsAtMost(inner, levels - 1));
}
