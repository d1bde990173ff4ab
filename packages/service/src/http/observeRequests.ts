import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Histogram, type Registry } from 'prom-client';
import { createSampler } from './createSampler.js';

/** Only the first of each kind of request without a key is logged within this time. */
const log_every_ms = 10_000;

/**
 * One measurement for every request and one log line for each with a valid key, under the route's pattern: never a URL,
 * header or body. What has no key is logged now and then, so that nobody without one fills the log. `now_ms` is a
 * monotonic clock.
 */
export function observeRequests(app: FastifyInstance, metrics: Registry, now_ms: () => number): void {
  if (metrics.getSingleMetric('process_cpu_seconds_total') === undefined) collectDefaultMetrics({ register: metrics });
  const duration = new Histogram({
    name: 'engraft_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the last of its response.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 60, 240],
    registers: [metrics],
  });
  const sample = createSampler(log_every_ms, now_ms);
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown';
    // Methods outside this list would each make a time series of its own.
    const method = request.routeOptions.url === undefined ? 'any' : request.method;
    duration.observe({ method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
    const { key, error_code } = request.state;
    const passed_over = key === null ? sample(`${method} ${route} ${reply.statusCode}`) : 0;
    done();
    if (passed_over === null) return;
    request.log.info(
      {
        method,
        route,
        status: reply.statusCode,
        duration_ms: Math.round(reply.elapsedTime * 10) / 10,
        ...(key === null ? {} : { key_id: key.id, project_id: key.project_id }),
        ...(error_code === null ? {} : { error_code }),
        ...(passed_over === 0 ? {} : { passed_over }),
      },
      'request',
    );
  });
}
