import type { Logger } from 'pino';
import type { TracingConfig } from '../config/tracingConfig.js';
import { engraftVersion } from '../engraftVersion.js';
import { noTracing, type Tracing } from './tracing.js';

/** A process that takes no traces does not load OpenTelemetry's SDK. */
export async function openConfiguredTracing(config: TracingConfig | null, logger: Logger): Promise<Tracing> {
  if (config === null) return noTracing;
  const { openTracing } = await import('./openTelemetry.js');
  logger.info(
    { protocol: config.protocol },
    'traces are taken, and sent to the collector of OTEL_EXPORTER_OTLP_ENDPOINT',
  );
  return openTracing(config, engraftVersion, logger);
}
