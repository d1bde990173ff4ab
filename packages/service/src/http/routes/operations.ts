import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';

export interface Operations {
  readonly readiness: () => Promise<readonly string[]>;
  readonly metrics: Registry;
}

/** `GET /healthz`, `/readyz` and `/metrics`: for operators, without a key, not under `/v1`. */
export function operationRoutes(app: FastifyInstance, { readiness, metrics }: Operations): void {
  app.get('/healthz', () => ({ status: 'alive' }));

  app.get('/readyz', async (_request, reply) => {
    const missing = await readiness();
    if (missing.length === 0) return { status: 'ready' };
    return reply.code(503).send({ status: 'unavailable', missing });
  });

  app.get('/metrics', async (_request, reply) => {
    return reply.type(metrics.contentType).send(await metrics.metrics());
  });
}
