import { Histogram, Registry } from 'prom-client';

/** Observes a value. `traceId` becomes its exemplar; `null` means none. */
export type Observe<Label extends string> = (
  labels: Readonly<Record<Label, string | number>>,
  value: number,
  traceId: string | null,
) => void;

interface HistogramOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: Label[];
  readonly buckets: number[];
}

/** A histogram whose buckets name the last trace that fell into them, if the registry can write exemplars. */
export function tracedHistogram<Label extends string>(
  options: HistogramOptions<Label>,
  registry: Registry,
): Observe<Label> {
  // The library refuses exemplars that could not be written, and types their labels as those of the metric.
  if (registry.contentType !== Registry.OPENMETRICS_CONTENT_TYPE.valueOf()) {
    const histogram = new Histogram<Label>({ ...options, registers: [registry] });
    return (labels, value) => histogram.observe(labels, value);
  }
  const histogram = new Histogram<string>({ ...options, enableExemplars: true, registers: [registry] });
  return (labels, value, traceId) => {
    histogram.observe({ labels, value, ...(traceId === null ? {} : { exemplarLabels: { trace_id: traceId } }) });
  };
}
