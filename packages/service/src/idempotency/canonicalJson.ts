/** Plain data as JSON with the keys of every object sorted, so that equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => (isPlainObject(inner) ? withSortedKeys(inner) : inner));
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withSortedKeys(value: Record<string, unknown>): Record<string, unknown> {
  // Without a prototype, a field named `__proto__` is like any other. Number-like keys come first in every JavaScript
  // object, whatever the order of insertion, and so they do in equal ones.
  const sorted = Object.create(null) as Record<string, unknown>;
  for (const key of Object.keys(value).sort()) sorted[key] = value[key];
  return sorted;
}
