/** Everything from OpenTelemetry's SDK. Only a process that takes traces imports it. */
import { ROOT_CONTEXT } from '@opentelemetry/api';
import { type ExportResult, ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import type { Logger } from 'pino';
import type { TracingConfig } from '../config/tracingConfig.js';
import { tracerName, type Tracing } from './tracing.js';

/** A collector that does not answer delays a stop no longer than this. */
const maxFlushMs = 3_000;

/**
 * Takes traces and sends them by OTLP over HTTP. The SDK reads from OpenTelemetry's own variables where to, which, how
 * many and under which name.
 */
export async function openTracing({ protocol }: TracingConfig, version: string, logger: Logger): Promise<Tracing> {
  const ours = resourceFromAttributes({ 'service.name': 'engraft', 'service.version': version });
  const theirs = detectResources({ detectors: [envDetector] });
  const exporter = reporting(await openExporter(protocol), logger);
  const provider = new BasicTracerProvider({
    resource: defaultResource().merge(ours).merge(theirs),
    spanProcessors: [new BatchSpanProcessor(exporter)],
    forceFlushTimeoutMillis: maxFlushMs,
  });
  const propagator = new W3CTraceContextPropagator();
  return {
    tracer: provider.getTracer(tracerName, version),
    contextOf: (headers) => propagator.extract(ROOT_CONTEXT, headers, { get: headerOf, keys: Object.keys }),
    stop: async () => {
      // Failures to send have been logged.
      await provider.forceFlush().catch(() => undefined);
    },
  };
}

function headerOf(headers: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

async function openExporter(protocol: TracingConfig['protocol']): Promise<SpanExporter> {
  const module =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  return new module.OTLPTraceExporter();
}

/** Logs when spans are lost, and when they get through again. */
function reporting(exporter: SpanExporter, logger: Logger): SpanExporter {
  let lostSpans = 0;
  const report = (result: ExportResult, count: number): void => {
    if (result.code === ExportResultCode.SUCCESS) {
      if (lostSpans > 0) logger.info({ lost_spans: lostSpans }, 'traces get through again');
      lostSpans = 0;
      return;
    }
    // Its message may quote the collector's answer or address, which may contain a password.
    if (lostSpans === 0) logger.warn({ error: result.error?.name }, 'traces could not be sent');
    lostSpans += count;
  };
  return {
    export: (spans: ReadableSpan[], done) =>
      exporter.export(spans, (result) => {
        report(result, spans.length);
        done(result);
      }),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  };
}
