import { type Metric, Registry, type RegistryContentType } from 'prom-client';

const openMetrics: RegistryContentType = Registry.OPENMETRICS_CONTENT_TYPE;
const prometheusText: RegistryContentType = Registry.PROMETHEUS_CONTENT_TYPE;

export interface Exposition {
  readonly content_type: string;
  readonly text: Buffer;
}

/** A registry that keeps exemplars. Only `writeOpenMetrics` and `writePrometheusText` write it. */
export function newRegistry(): Registry {
  const registry = new Registry<RegistryContentType>();
  registry.setContentType(openMetrics);
  // The library types registries by the format in which they write.
  return registry as unknown as Registry;
}

/** Whether a client asks for OpenMetrics, as Prometheus does. Only that format has exemplars. */
export function wantsOpenMetrics(accept: string | undefined): boolean {
  return accept?.includes('application/openmetrics-text') === true;
}

export function writeOpenMetrics(metrics: Registry): Promise<Exposition> {
  return write(metrics, openMetrics);
}

export function writePrometheusText(metrics: Registry): Promise<Exposition> {
  return write(metrics, prometheusText);
}

/**
 * The library has one format for each registry, and removes `_total` from the names of counters for good when it writes
 * OpenMetrics. So it gets views: objects with their own name and the rest from the metric.
 */
async function write(metrics: Registry, contentType: RegistryContentType): Promise<Exposition> {
  const views = new Registry<RegistryContentType>();
  views.setContentType(contentType);
  for (const { name } of metrics.getMetricsAsArray()) {
    const metric = metrics.getSingleMetric(name);
    if (metric !== undefined) views.registerMetric(viewOf(metric, name));
  }
  return { content_type: contentType, text: Buffer.from(await views.metrics()) };
}

function viewOf(metric: Metric, name: string): Metric {
  return Object.create(metric, { name: { value: name, writable: true, enumerable: true } }) as Metric;
}
