import fc from 'fast-check';

/** Plain data, so that a history can be read. Indices count round what there is when their turn comes. */
export type Operation =
  | {
      readonly do: 'ask';
      readonly client: number;
      readonly key: number;
      readonly subject: number;
      readonly version: VersionChoice;
    }
  | {
      readonly do: 'learn';
      readonly client: number;
      readonly key: number;
      readonly subject: number;
      readonly activate: boolean;
    }
  /** The same request several times at once. */
  | { readonly do: 'race'; readonly client: number; readonly key: number; readonly copies: number }
  | {
      readonly do: 'activate';
      readonly client: number;
      readonly version: number;
      readonly expected: VersionChoice;
      readonly copies: number;
    }
  | { readonly do: 'revoke'; readonly client: number }
  | { readonly do: 'grant'; readonly client: number; readonly amount_microusd: number }
  | { readonly do: 'refund'; readonly job: number; readonly share: number }
  | { readonly do: 'refundHosting'; readonly client: number }
  | { readonly do: 'expire'; readonly version: number }
  | { readonly do: 'resolve'; readonly job: number; readonly share: number }
  | { readonly do: 'clock'; readonly by_seconds: number }
  | { readonly do: 'retain' }
  | { readonly do: 'claim'; readonly worker: number; readonly kind: 'inference' | 'internalization' }
  | { readonly do: 'advance' | 'stop'; readonly run: number }
  | { readonly do: 'fail'; readonly run: number; readonly how: 'engine' | 'receipt' }
  | { readonly do: 'kill'; readonly worker: number }
  /** The database loses its connections while a request is under way. */
  | { readonly do: 'cut'; readonly client: number; readonly key: number };

/** `active`: whichever is; a number: one of those that were ever made. */
export type VersionChoice = 'active' | 'base' | number;

/** A record without null prototypes, which would clutter what is printed. */
function record<Fields extends object>(fields: {
  [Name in keyof Fields]: fc.Arbitrary<Fields[Name]>;
}): fc.Arbitrary<Fields> {
  return fc.record(fields, { noNullPrototype: true }) as fc.Arbitrary<Fields>;
}

const client = fc.nat(3);
const key = fc.nat(30);
const subject = fc.nat(1);
const index = fc.nat(20);
const choice: fc.Arbitrary<VersionChoice> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<VersionChoice>('active') },
  { weight: 1, arbitrary: fc.constant<VersionChoice>('base') },
  { weight: 2, arbitrary: index },
);
const minute = 60;
const day = 86_400;
const jumps = [-2 * day, -3600, -2 * minute, 30, 90, 3600, day, 3 * day, 9 * day];

const weighted: readonly [number, fc.Arbitrary<Operation>][] = [
  [6, record({ do: fc.constant('ask' as const), client, key, subject, version: choice })],
  [4, record({ do: fc.constant('learn' as const), client, key, subject, activate: fc.boolean() })],
  [1, record({ do: fc.constant('race' as const), client, key, copies: fc.integer({ min: 2, max: 4 }) })],
  [
    3,
    record({
      do: fc.constant('activate' as const),
      client,
      version: index,
      expected: choice,
      copies: fc.integer({ min: 1, max: 3 }),
    }),
  ],
  [1, record({ do: fc.constant('revoke' as const), client })],
  [1, record({ do: fc.constant('grant' as const), client, amount_microusd: fc.integer({ min: 1, max: 2_000_000 }) })],
  [1, record({ do: fc.constant('refund' as const), job: index, share: fc.constantFrom(0.5, 1, 2) })],
  [1, record({ do: fc.constant('refundHosting' as const), client })],
  [1, record({ do: fc.constant('expire' as const), version: index })],
  [2, record({ do: fc.constant('resolve' as const), job: index, share: fc.constantFrom(0, 0.5, 1, 2) })],
  [3, record({ do: fc.constant('clock' as const), by_seconds: fc.constantFrom(...jumps) })],
  [1, fc.constant({ do: 'retain' as const })],
  [
    10,
    record({
      do: fc.constant('claim' as const),
      worker: fc.nat(2),
      kind: fc.constantFrom('inference', 'internalization'),
    }),
  ],
  [20, record({ do: fc.constant('advance' as const), run: index })],
  [1, record({ do: fc.constant('stop' as const), run: index })],
  [2, record({ do: fc.constant('fail' as const), run: index, how: fc.constantFrom('engine', 'receipt') })],
  [1, record({ do: fc.constant('kill' as const), worker: fc.nat(2) })],
  [1, record({ do: fc.constant('cut' as const), client, key })],
];

export const operation: fc.Arbitrary<Operation> = fc.oneof(
  ...weighted.map(([weight, arbitrary]) => ({ weight, arbitrary })),
);
