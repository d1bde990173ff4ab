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
 * How spans are made. Contexts are passed as arguments, and nothing is registered with OpenTelemetry's API, so that two
 * services in one process share nothing.
 */
export interface Tracing {
  /** Its spans go nowhere if no traces are taken. */
  readonly tracer: SpanMaker;
  /** The context in a caller's headers. It is the root if they have none, or no traces are taken. */
  readonly contextOf: (headers: Readonly<Record<string, unknown>>) => Context;
  /** Sends the rest, for a few seconds at most. */
  readonly stop: () => Promise<void>;
}

export type SpanMaker = Pick<Tracer, 'startSpan'>;

export const tracerName = 'engraft';

const noSpan = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);

/** Loads nothing of the SDK. */
export const noTracing: Tracing = {
  tracer: { startSpan: () => noSpan },
  contextOf: () => ROOT_CONTEXT,
  stop: () => Promise.resolve(),
};

/** A span may have counts, times, ids and our own words, but never a caller's text or the model's. */
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

/** Ends the span as failed. It gets the error's code, since a message may quote what nobody else may read. */
export function endFailed(span: Span, errorType: string): void {
  span.setAttribute('error.type', errorType);
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/** `EngineError` has codes, as PostgreSQL's and Node.js's errors do. */
export function errorTypeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const code: unknown = 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^\w{1,40}$/.test(code) ? code : error.name;
}

/** The id of the span's trace if it is recorded, else `null`. */
export function traceIdOf(span: Span): string | null {
  const context = span.spanContext();
  return isTaken(context) ? context.traceId : null;
}

/** W3C's `traceparent`, to be stored with a job. `null` if no traces are taken. */
export function traceContextOf(span: Span): string | null {
  const context = span.spanContext();
  if (!isSpanContextValid(context)) return null;
  return `00-${context.traceId}-${context.spanId}-${context.traceFlags.toString(16).padStart(2, '0')}`;
}

/** Reads what `traceContextOf` wrote. */
export function spanContextOf(traceContext: string | null): SpanContext | null {
  const [, traceId, spanId, flags] = /^00-(\w{32})-(\w{16})-(\w{2})$/.exec(traceContext ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  return { traceId, spanId, traceFlags: parseInt(flags, 16), isRemote: true };
}

function isTaken(context: SpanContext): boolean {
  return isSpanContextValid(context) && (context.traceFlags & TraceFlags.SAMPLED) !== 0;
}
