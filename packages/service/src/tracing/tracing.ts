import {
  INVALID_SPAN_CONTEXT,
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type Span,
  type SpanContext,
  type SpanOptions,
  type Tracer,
} from '@opentelemetry/api';

/**
 * How spans are made. Contexts are passed from hand to hand: nothing is registered with OpenTelemetry's API, so that
 * two services in one process have nothing in common.
 */
export interface Tracing {
  /** Makes spans that go nowhere when no traces are taken. */
  readonly tracer: SpanMaker;
  /** The context that a caller's headers name; the root where they name none, or no traces are taken. */
  readonly contextOf: (headers: Readonly<Record<string, unknown>>) => Context;
  /** Sends what has not been sent, for a few seconds at most. */
  readonly stop: () => Promise<void>;
}

export type SpanMaker = Pick<Tracer, 'startSpan'>;

export const tracerName = 'engraft';

const no_span = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);

/** Loads nothing of the SDK. */
export const noTracing: Tracing = {
  tracer: { startSpan: () => no_span },
  contextOf: () => ROOT_CONTEXT,
  stop: () => Promise.resolve(),
};

/** A span may have counts, times, ids and words of ours; never a caller's text or the model's. */
export type SpanAttributes = Attributes;

export interface OpenSpan {
  readonly span: Span;
  /** For the spans within it. */
  readonly context: Context;
}

export function openSpan(tracer: SpanMaker, name: string, parent: Context, options: SpanOptions = {}): OpenSpan {
  const span = tracer.startSpan(name, options, parent);
  return { span, context: trace.setSpan(parent, span) };
}

/** Ends the span as one that failed. An error's message may quote what nobody else is to read, so it has its code. */
export function endFailed(span: Span, error_type: string): void {
  span.setAttribute('error.type', error_type);
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/** `EngineError` has codes, as PostgreSQL's errors and Node.js's do. */
export function errorTypeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const code: unknown = 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^\w{1,40}$/.test(code) ? code : error.name;
}

/** The id of the span's trace, where the trace is taken; `null` otherwise. */
export function traceIdOf(span: Span): string | null {
  const context = span.spanContext();
  return isTaken(context) ? context.traceId : null;
}

/** As W3C's `traceparent`, to be kept with a job; `null` where no traces are taken. */
export function traceContextOf(span: Span): string | null {
  const context = span.spanContext();
  if (!isSpanContextValid(context)) return null;
  return `00-${context.traceId}-${context.spanId}-${context.traceFlags.toString(16).padStart(2, '0')}`;
}

/** Reads what `traceContextOf` wrote. */
export function spanContextOf(trace_context: string | null): SpanContext | null {
  const [, traceId, spanId, flags] = /^00-(\w{32})-(\w{16})-(\w{2})$/.exec(trace_context ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  return { traceId, spanId, traceFlags: parseInt(flags, 16), isRemote: true };
}

function isTaken(context: SpanContext): boolean {
  return isSpanContextValid(context) && (context.traceFlags & TraceFlags.SAMPLED) !== 0;
}
