import { z } from 'zod';

/** Whether traces are taken. OpenTelemetry's SDK reads the rest of its variables. */
export interface TracingConfig {
  readonly protocol: 'http/protobuf' | 'http/json';
}

/** The deciding ones of https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/. */
export const tracingVariables = {
  OTEL_SDK_DISABLED: z.string().optional(),
  OTEL_TRACES_EXPORTER: z.string().optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.string().optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.string().optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: z.string().optional(),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: z.string().optional(),
};

/** The fault in the variables, as "VARIABLE fault". It stops only a process that would take traces. */
export interface TracingProblem {
  readonly problem: string;
}

type TracingVariables = z.output<z.ZodObject<typeof tracingVariables>>;

/**
 * `null` if nobody named a collector, so that no traces are taken. Other programs share these variables, so values that
 * mean nothing here are ignored.
 */
export function tracingConfigOf(variables: TracingVariables): TracingConfig | TracingProblem | null {
  const exporters = variables.OTEL_TRACES_EXPORTER?.split(',').map((name) => name.trim());
  const endpoint = given(variables, ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT']);
  const isWanted = exporters === undefined ? endpoint !== null : exporters.includes('otlp');
  if (!isWanted || variables.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return null;
  if (endpoint !== null && !(URL.canParse(endpoint.value) && /^https?:/.test(endpoint.value))) {
    return { problem: `${endpoint.name} must be a URL that starts with http:// or https://` };
  }
  const protocol = given(variables, ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL']);
  if (protocol === null) return { protocol: 'http/protobuf' };
  const { name, value } = protocol;
  if (value === 'http/protobuf' || value === 'http/json') return { protocol: value };
  return { problem: `${name} must be http/protobuf or http/json: OTLP over gRPC is not spoken` };
}

/** The first of these variables that is set. */
function given<Name extends keyof TracingVariables>(variables: TracingVariables, names: readonly Name[]) {
  for (const name of names) {
    const value = variables[name];
    if (value !== undefined) return { name, value };
  }
  return null;
}
