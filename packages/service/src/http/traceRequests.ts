import { SpanKind } from '@opentelemetry/api';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { endFailed, openSpan, traceContextOf, type Tracing } from '../tracing/tracing.js';

/**
 * A span for each request with a valid key, so that nobody without one can fill the collector. It begins when the key
 * is known and the returned function is called, and continues the trace of W3C's `traceparent`. Like the log, a span
 * has the route's pattern: never a URL, header or body.
 */
export function traceRequests(app: FastifyInstance, { tracer, contextOf }: Tracing): (request: FastifyRequest) => void {
  app.addHook('onResponse', (request, reply, done) => {
    const { span, error_code } = request.state;
    if (span !== null) {
      span.setAttribute('http.response.status_code', reply.statusCode);
      if (error_code !== null) span.setAttribute('engraft.error_code', error_code);
      if (reply.statusCode >= 500) endFailed(span, error_code ?? String(reply.statusCode));
      else span.end();
    }
    done();
  });
  return (request) => {
    const { method, id, headers, routeOptions, state } = request;
    const route = routeOptions.url ?? 'unknown';
    const { span } = openSpan(tracer, `${method} ${route}`, contextOf(headers), {
      kind: SpanKind.SERVER,
      attributes: { 'http.request.method': method, 'http.route': route, 'engraft.request.id': id },
    });
    if (state.key !== null)
      span.setAttributes({ 'engraft.key.id': state.key.id, 'engraft.project.id': state.key.project_id });
    state.span = span;
  };
}

/** The context that is stored with a job of this request. `null` if no traces are taken. */
export function traceContextOfRequest({ state }: FastifyRequest): string | null {
  return state.span === null ? null : traceContextOf(state.span);
}
