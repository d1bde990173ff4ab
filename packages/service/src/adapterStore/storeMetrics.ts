import { Counter, Gauge, type Registry } from 'prom-client';

/** How a store in a bucket does; without one all of it stays 0. */
export interface AdapterStoreMetrics {
  asked(outcome: 'hit' | 'miss'): void;
  evicted(): void;
  requested(operation: (typeof operations)[number], outcome: (typeof outcomes)[number]): void;
  /** Says from now on how many bytes the copies have, asked whenever the metrics are read, and may have. */
  watchCopies(bytes: () => number, maxBytes: number): void;
}

const operations = ['head', 'get', 'put', 'delete'] as const;
const outcomes = ['done', 'failed'] as const;

export function createStoreMetrics(registry: Registry): AdapterStoreMetrics {
  const registers = [registry];
  const asked = new Counter({
    name: 'engraft_adapter_copies_asked_total',
    help: 'Adapters of a bucket that were asked for: their copy was on this machine (hit) or had to be fetched (miss).',
    labelNames: ['outcome'] as const,
    registers,
  });
  const evicted = new Counter({
    name: 'engraft_adapter_copies_evicted_total',
    help: 'Copies of adapters that were deleted to make room for others.',
    registers,
  });
  const requests = new Counter({
    name: 'engraft_adapter_bucket_requests_total',
    help: 'Attempts at requests to the bucket of adapters.',
    labelNames: ['operation', 'outcome'] as const,
    registers,
  });
  for (const outcome of ['hit', 'miss'] as const) asked.inc({ outcome }, 0);
  for (const operation of operations) for (const outcome of outcomes) requests.inc({ operation, outcome }, 0);
  let watched = { bytes: (): number => 0, maxBytes: 0 };
  new Gauge({
    name: 'engraft_adapter_copies_bytes',
    help: 'Bytes of the copies of adapters on this machine.',
    registers,
    collect() {
      this.set(watched.bytes());
    },
  });
  new Gauge({
    name: 'engraft_adapter_copies_bytes_max',
    help: 'How many bytes they may have, but for those in use.',
    registers,
    collect() {
      this.set(watched.maxBytes);
    },
  });
  return {
    asked: (outcome) => asked.inc({ outcome }),
    evicted: () => evicted.inc(),
    requested: (operation, outcome) => requests.inc({ operation, outcome }),
    watchCopies: (bytes, maxBytes) => {
      watched = { bytes, maxBytes };
    },
  };
}
