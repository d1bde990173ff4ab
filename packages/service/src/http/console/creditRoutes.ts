import { Readable } from 'node:stream';
import { readRequest } from '@engraft/contract';
import { ledgerQuery, spendingQuery, type ConsoleCredits, type Spending } from '@engraft/contract/console';
import type { FastifyInstance } from 'fastify';
import type { Kysely } from 'kysely';
import { ledgerCsv } from '../../console/ledgerCsv.js';
import { readProjectCredits } from '../../console/projectCredits.js';
import { readSpending } from '../../console/spending.js';
import type { Database } from '../../db/schema.js';
import { refuseQueryParameters } from '../readBody.js';
import { readQuery } from '../readQuery.js';
import { projectOf } from './guardRequests.js';

const look = { config: { console: 'look' } } as const;

/** The balance, what was spent, and the ledger, also as CSV. */
export function creditRoutes(api: FastifyInstance, { db }: { readonly db: Kysely<Database> }): void {
  api.get('/projects/:project/credits', look, async (request): Promise<ConsoleCredits> => {
    const query = readQuery(request, (parameters) => readRequest(ledgerQuery, parameters));
    return readProjectCredits(db, projectOf(request), query);
  });

  api.get('/projects/:project/spending', look, async (request): Promise<Spending> => {
    const query = readQuery(request, (parameters) => readRequest(spendingQuery, parameters));
    return readSpending(db, projectOf(request), query);
  });

  api.get('/projects/:project/ledger.csv', look, async (request, reply) => {
    refuseQueryParameters(request);
    void reply.headers({
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': 'attachment; filename="ledger.csv"',
    });
    return reply.send(Readable.from(ledgerCsv(db, projectOf(request))));
  });
}
