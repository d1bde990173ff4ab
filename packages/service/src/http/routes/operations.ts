import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Registry } from 'prom-client';
import { cacheFor } from '../../cacheFor.js';
import { wantsOpenMetrics, writeOpenMetrics, writePrometheusText } from '../../metrics/exposition.js';
import { limitOperations, type StrangerLimits } from '../limitStrangers.js';

export interface Operations {
  readonly readiness: () => Promise<readonly string[]>;
  readonly metrics: Registry;
  readonly strangers: StrangerLimits;
  readonly nowMs: () => number;
}

/** Writing the text takes milliseconds, in which nothing else is done. */
const metricsFreshMs = 1_000;
const readinessFreshMs = 500;

/**
 * `GET /healthz` and `/readyz`, for operators. They need no key and are not under `/v1`. An address that asks too often
 * gets a late answer rather than a refusal, which a supervisor would take for a failure.
 */
export function healthRoutes(app: FastifyInstance, { readiness, strangers, nowMs }: Operations): void {
  const slow = (request: FastifyRequest): Promise<void> => strangers.slow('probes', request);
  app.get('/healthz', { onRequest: slow }, () => ({ status: 'alive' }));

  const findMissing = cacheFor(readinessFreshMs, readiness, nowMs);
  app.get('/readyz', { onRequest: slow }, async (_request, reply) => {
    const missing = await findMissing();
    if (missing.length === 0) return { status: 'ready' };
    return reply.code(503).send({ status: 'unavailable', missing });
  });
}

/**
 * `GET /metrics`, for operators. It needs no key and is not under `/v1`. The format is Prometheus' text, or OpenMetrics
 * on demand.
 */
export function metricsRoute(app: FastifyInstance, { metrics, strangers, nowMs }: Operations): void {
  const onRequest = limitOperations(strangers);
  const prometheusText = cacheFor(metricsFreshMs, () => writePrometheusText(metrics), nowMs);
  const openMetrics = cacheFor(metricsFreshMs, () => writeOpenMetrics(metrics), nowMs);
  app.get('/metrics', { onRequest }, async (request, reply) => {
    const { content_type, text } = await (wantsOpenMetrics(request.headers.accept) ? openMetrics() : prometheusText());
    return reply.type(content_type).send(text);
  });
}
