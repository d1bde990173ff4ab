import { shownName, type ReadOutcome } from '@engraft/contract';
import type { FastifyRequest } from 'fastify';
import { invalid, queryOf } from './readBody.js';

/**
 * The query parameters of a request, read by the contract. "Query parameters that an endpoint does not define are
 * refused with 422 rather than ignored", and so is one that is given twice.
 */
export function readQuery<Value>(request: FastifyRequest, read: (query: unknown) => ReadOutcome<Value>): Value {
  // Without a prototype, a parameter named `__proto__` is like any other.
  const query = Object.create(null) as Record<string, string>;
  for (const [name, value] of queryOf(request)) {
    if (name in query) throw invalid(shownName(name.slice(0, 100)), 'this query parameter is given twice');
    query[name] = value;
  }
  const outcome = read(query);
  if (outcome.kind === 'invalid') throw invalid(outcome.param, outcome.message);
  return outcome.value;
}
