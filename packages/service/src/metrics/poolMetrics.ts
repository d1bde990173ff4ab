import { Gauge, type Registry } from 'prom-client';
import type { PoolCounts } from '../db/database.js';

/** The database connections of this process. */
export function watchPool(counts: () => PoolCounts, registry: Registry): void {
  const registers = [registry];
  new Gauge({
    name: 'engraft_database_connections',
    help: 'Connections of this process to the database.',
    labelNames: ['state'] as const,
    registers,
    collect() {
      const { open, idle } = counts();
      this.set({ state: 'in_use' }, open - idle);
      this.set({ state: 'idle' }, idle);
    },
  });
  new Gauge({
    name: 'engraft_database_connections_max',
    help: 'The most connections that this process opens to the database.',
    registers,
    collect() {
      this.set(counts().max);
    },
  });
  new Gauge({
    name: 'engraft_database_waiting',
    help: 'Queries and transactions of this process that wait for a connection.',
    registers,
    collect() {
      this.set(counts().waiting);
    },
  });
}
