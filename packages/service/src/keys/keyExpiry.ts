import type { KeyLifetime } from '@engraft/contract/console';

const days = { '30d': 30, '90d': 90, '1y': 365, never: null } as const satisfies Record<KeyLifetime, number | null>;

/** "Keys expire after 30 days, 90 days, one year or never." `null` for never. */
export function expiryAfter(lifetime: KeyLifetime): Date | null {
  const lifetime_days = days[lifetime];
  return lifetime_days === null ? null : new Date(Date.now() + lifetime_days * 86_400_000);
}
