import { z } from 'zod';
import type { JsonSchema } from './types.js';

/** The schemas of one direction, by the name that each has in the description. */
export type NamedSchemas = Readonly<Record<string, z.ZodType>>;

/**
 * JSON Schemas of what callers send (`input`: defaults are optional) or receive (`output`: fields may be added later).
 * A named schema inside another becomes a reference.
 */
export function toJsonSchemas(schemas: NamedSchemas, io: 'input' | 'output'): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const converted = z.toJSONSchema(registry, {
    io,
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ zodSchema, jsonSchema }) => {
      tidy(jsonSchema as JsonSchema, zodSchema instanceof z.ZodObject && zodSchema.def.catchall === undefined, io);
    },
  });
  for (const schema of Object.values(converted.schemas)) {
    delete schema.$schema;
    delete schema.$id;
  }
  return converted.schemas as Record<string, JsonSchema>;
}

/** Removes what Zod says beyond the contract. */
function tidy(schema: JsonSchema & { propertyNames?: unknown }, open: boolean, io: 'input' | 'output'): void {
  // "Results may carry additional diagnostic fields."
  if (io === 'output' && open) delete schema.additionalProperties;
  if (schema.additionalProperties !== undefined && schema.additionalProperties !== false) {
    schema.additionalProperties = true;
  }
  // JSON has no names but strings, and keeps no integers but safe ones.
  delete schema.propertyNames;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.format === 'date-time') delete schema.pattern;
}
