import type { EngineExit, ServingEngine } from '@engraft/engine';
import { Counter, Gauge, type Registry } from 'prom-client';

const purposes = ['serving', 'training'] as const satisfies readonly EngineExit['purpose'][];
const reasons = ['exited', 'unresponsive', 'stalled'] as const satisfies readonly EngineExit['reason'][];

export type WatchedEngine = Pick<ServingEngine, 'responsive' | 'onExit' | 'onStart'>;

/** Whether the engine responds, and how often its processes were lost and started again. */
export function watchEngine(engine: WatchedEngine, registry: Registry): void {
  const registers = [registry];
  const losses = new Counter({
    name: 'engraft_engine_losses_total',
    help: 'Engine processes that ended by themselves, or were killed since they hung.',
    labelNames: ['purpose', 'reason'] as const,
    registers,
  });
  for (const purpose of purposes) for (const reason of reasons) losses.inc({ purpose, reason }, 0);
  engine.onExit(({ purpose, reason }) => losses.inc({ purpose, reason }));
  const restarts = new Counter({
    name: 'engraft_engine_restarts_total',
    help: 'Engine processes that serve and were started in the place of one that was lost.',
    registers,
  });
  // The first one has started before this.
  engine.onStart(({ purpose }) => {
    if (purpose === 'serving') restarts.inc();
  });
  new Gauge({
    name: 'engraft_engine_responsive',
    help: '1 while the engine that serves has a process that gives signs of life.',
    registers,
    collect() {
      this.set(engine.responsive ? 1 : 0);
    },
  });
}
