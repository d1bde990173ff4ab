import type { KeyLifetime } from '@engraft/contract/console';

const days = { '30d': 30, '90d': 90, '1y': 365, never: null } as const satisfies Record<KeyLifetime, number | null>;

/** "Keys expire after 30 days, 90 days, one year or never." `null` for never. */
export function expiryAfter(lifetime: KeyLifetime): Date | null {
  const lifetimeDays = days[lifetime];
  return lifetimeDays === null ? null : new Date(Date.now() + lifetimeDays * 86_400_000);
}
