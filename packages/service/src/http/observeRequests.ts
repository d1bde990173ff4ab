import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import { tracedHistogram } from '../metrics/tracedHistogram.js';
import { traceIdOf } from '../tracing/tracing.js';
import { createSampler } from './createSampler.js';

/** Within this time, only the first of each kind of request without a key is logged. */
const logEveryMs = 10_000;

/**
 * Measures every request, and logs one line for each with a valid key, under the route's pattern: never a URL, header
 * or body. Requests without a key are logged now and then, so that nobody without one can fill the log. `nowMs` is a
 * monotonic clock.
 */
export function observeRequests(app: FastifyInstance, metrics: Registry, nowMs: () => number): void {
  const observe = tracedHistogram(
    {
      name: 'engraft_http_request_duration_seconds',
      help: 'Time from the first byte of a request to the last of its response.',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 60, 240],
    },
    metrics,
  );
  const sample = createSampler(logEveryMs, nowMs);
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown';
    // Methods outside this list would each make a time series of their own.
    const method = request.routeOptions.url === undefined ? 'any' : request.method;
    const { key, error_code, span } = request.state;
    const traceId = span === null ? null : traceIdOf(span);
    observe({ method, route, status: reply.statusCode }, reply.elapsedTime / 1000, traceId);
    const passedOver = key === null ? sample(`${method} ${route} ${reply.statusCode}`) : 0;
    done();
    if (passedOver === null) return;
    request.log.info(
      {
        method,
        route,
        status: reply.statusCode,
        duration_ms: Math.round(reply.elapsedTime * 10) / 10,
        ...(key === null ? {} : { key_id: key.id, project_id: key.project_id }),
        ...(error_code === null ? {} : { error_code }),
        ...(traceId === null ? {} : { trace_id: traceId }),
        ...(passedOver === 0 ? {} : { passed_over: passedOver }),
      },
      'request',
    );
  });
}
