import { z } from 'zod';

/** One line of text that is not blank. Lists and terminals show names and reasons as they are. */
export const oneLine = /^(?=.*\S)[^\p{Cc}]*$/u;

export function lineOfUnits(maxUnits: number) {
  return textOfUnits(1, maxUnits).regex(oneLine, {
    error: 'must be one line of text without control characters, and not blank',
  });
}

/**
 * A string whose length is counted "in UTF-16 code units (JavaScript's `length`)". Zod's own `min` and `max` count code
 * points, by which a text of emoji would be half as long. The description shows the bounds of JSON Schema, which come
 * closest.
 */
export function textOfUnits(minUnits: number, maxUnits: number) {
  const range = minUnits === 0 ? `at most ${maxUnits}` : `${minUnits}-${maxUnits}`;
  return z
    .string()
    .refine(({ length }) => length >= minUnits && length <= maxUnits, {
      error: ({ input }) => `must take ${range} UTF-16 units, not ${String(input).length}`,
    })
    .meta({ ...(minUnits === 0 ? {} : { minLength: minUnits }), maxLength: maxUnits });
}
