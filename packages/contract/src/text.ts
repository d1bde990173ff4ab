import { z } from 'zod';

/**
 * A string whose length is counted "in UTF-16 code units (JavaScript's `length`)". Zod's own `min` and `max` count code
 * points, by which a text of emoji would be half as long. The description shows the bounds of JSON Schema, which come
 * closest.
 */
export function textOfUnits(min_units: number, max_units: number) {
  const range = min_units === 0 ? `at most ${max_units}` : `${min_units}-${max_units}`;
  return z
    .string()
    .refine(({ length }) => length >= min_units && length <= max_units, {
      error: ({ input }) => `must take ${range} UTF-16 units, not ${String(input).length}`,
    })
    .meta({ ...(min_units === 0 ? {} : { minLength: min_units }), maxLength: max_units });
}
