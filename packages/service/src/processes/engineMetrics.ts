import type { EngineHost } from '@engraft/engine';
import { Counter, type Registry } from 'prom-client';

/** `engraft_engine_losses_total`: engine processes that nobody had asked to end. */
export function countEngineLosses(engine: EngineHost, registry: Registry): void {
  const losses = new Counter({
    name: 'engraft_engine_losses_total',
    help: 'Engine processes that ended by themselves, or were killed since they hung.',
    labelNames: ['purpose', 'reason'] as const,
    registers: [registry],
  });
  engine.onExit(({ purpose, reason }) => losses.inc({ purpose, reason }));
}
