import fc from 'fast-check';
import type { SentRequest } from './requests.js';

/** Texts and values that have broken a parser, an index or a database before. */
const nasty = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom<unknown>('', '\u0000', '\ud800', '__proto__', "'; drop table jobs; --", '%00', 'constructor'),
  fc.constantFrom<unknown>(-0, 1e308, -1, 0.5, 2 ** 53, null, true, [], {}, [[]]),
  fc.constantFrom('x'.repeat(129), 'x'.repeat(16_001), 'x'.repeat(100_001)),
);

interface Change {
  readonly path: readonly number[];
  readonly kind: 'replace' | 'remove' | 'add' | 'repeat';
  readonly value: unknown;
}

const change: fc.Arbitrary<Change> = fc.record({
  path: fc.array(fc.nat(20), { minLength: 1, maxLength: 5 }),
  kind: fc.constantFrom('replace', 'replace', 'remove', 'add', 'repeat'),
  value: nasty,
});

const headerText = fc.string({ unit: 'grapheme-ascii', maxLength: 140 });
const headerChange = fc.record({
  name: fc.constantFrom(
    'idempotency-key',
    'x-service-tenant',
    'x-service-subject',
    'content-type',
    'authorization',
    'origin',
  ),
  value: fc.option(headerText, { nil: undefined }),
});

/** Changes to a valid request: to its body as a value or as a text, to its headers, or to its address. */
export function mutated(valid: fc.Arbitrary<SentRequest>): fc.Arbitrary<SentRequest> {
  const byBody = fc.tuple(valid, fc.array(change, { minLength: 1, maxLength: 3 })).map(([request, changes]) => ({
    ...request,
    body: changes.reduce(applyChange, request.body),
  }));
  const byText = fc
    .tuple(valid, fc.nat(2_000), fc.string({ unit: 'binary', maxLength: 3 }))
    .map(([request, at, text]) => {
      const json = JSON.stringify(request.body ?? null);
      const place = at % (json.length + 1);
      return { ...request, body: json.slice(0, place) + text + json.slice(place + 1) };
    });
  const byHeader = fc.tuple(valid, headerChange).map(([request, { name, value }]) => {
    const others = Object.entries(request.headers).filter(([each]) => each !== name);
    return { ...request, headers: Object.fromEntries(value === undefined ? others : [...others, [name, value]]) };
  });
  const byAddress = fc
    .tuple(valid, fc.webPath(), fc.webQueryParameters(), fc.boolean())
    .map(([request, path, query, whole]) => ({
      ...request,
      url: whole ? `${path || '/'}?${query}` : `${request.url}${path}?${query}`,
    }));
  return fc.oneof(
    { weight: 12, arbitrary: byBody },
    { weight: 3, arbitrary: byText },
    { weight: 3, arbitrary: byHeader },
    { weight: 2, arbitrary: byAddress },
  );
}

/** The value with one place in it changed: each step of the path picks a child, as long as there is one. */
function applyChange(value: unknown, { path, kind, value: replacement }: Change): unknown {
  const [step = 0, ...rest] = path;
  if (path.length === 0 || typeof value !== 'object' || value === null) return replacement;
  const names = Object.keys(value);
  if (names.length === 0 || (kind === 'add' && rest.length === 0))
    return withField(value, nameOf(replacement), replacement);
  const name = names[step % names.length] ?? '';
  const child = (value as Record<string, unknown>)[name];
  if (rest.length > 0) return withField(value, name, applyChange(child, { path: rest, kind, value: replacement }));
  if (kind === 'remove') return without(value, name);
  if (kind === 'repeat')
    return Array.isArray(value) ? [...(value as unknown[]), child] : withField(value, name, [child, child]);
  return withField(value, name, replacement);
}

function withField(value: object, name: string, field: unknown): unknown {
  const copy: object = Array.isArray(value) ? [...(value as unknown[])] : { ...value };
  // Assigning to `__proto__` would change the prototype instead.
  if (!Array.isArray(copy) || /^\d{1,3}$/.test(name)) {
    Object.defineProperty(copy, name, { value: field, enumerable: true, configurable: true, writable: true });
  }
  return copy;
}

function without(value: object, name: string): unknown {
  if (Array.isArray(value)) return value.filter((_, index) => String(index) !== name) as unknown[];
  return Object.fromEntries(Object.entries(value).filter(([each]) => each !== name));
}

/** A name for an added field; what is no text need not have a `toString` that works. */
function nameOf(value: unknown): string {
  return typeof value === 'string' || value === undefined ? String(value) : JSON.stringify(value);
}
