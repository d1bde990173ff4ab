import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';

/** Memory, processor time, event loop and garbage collection of this process, and its release. */
export function watchProcess(version: string, registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'engraft_build_info',
    help: '1; the release is in the label.',
    labelNames: ['version'] as const,
    registers: [registry],
  }).set({ version }, 1);
}
