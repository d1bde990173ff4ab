import { z } from 'zod';
import { jobKind } from '../resources.js';

/** A project's money in `/console/api/projects/{project}`: requests and their answers. */

const timestamp = z.iso.datetime();
const microusd = z.int();

export const ledgerQuery = z.strictObject({
  cursor: z
    .string()
    .regex(/^\d{1,15}$/, 'it is no next_cursor')
    .optional(),
});
export const ledgerEntry = z.object({
  id: z.int(),
  kind: z.enum(['grant', 'reserve', 'post', 'void', 'hosting', 'refund']),
  amount_microusd: microusd,
  job_id: z.string().nullable(),
  job_kind: jobKind.nullable(),
  version_id: z.string().nullable(),
  subject_id: z.string().nullable(),
  memo: z.string().nullable(),
  created_at: timestamp,
});
export const consoleCredits = z.object({
  available_microusd: microusd,
  reserved_microusd: microusd,
  spent_microusd: microusd,
  entries: z.array(ledgerEntry),
  next_cursor: z.string().nullable(),
});

/** Credit that somebody buys: whole cents, from 5 to 10,000 USD. */
export const purchaseBounds = { min: 5_000_000, max: 10_000_000_000 } as const;
export const purchaseRequest = z.strictObject({
  amount_microusd: z
    .int('a whole number of micro-USD')
    .min(purchaseBounds.min, 'at least 5 USD')
    .max(purchaseBounds.max, 'at most 10,000 USD')
    .multipleOf(10_000, 'whole cents'),
});
/** The page of Stripe's on which to pay. */
export const startedCheckout = z.object({ url: z.url({ protocol: /^https?$/ }) });

/** "Spending over time by kind, subject and key." */
export const spendingGroups = ['kind', 'subject', 'key'] as const;
/** Days in UTC, today among them. */
export const spendingDays = ['7', '30', '90'] as const;
export const spendingQuery = z.strictObject({ by: z.enum(spendingGroups), days: z.enum(spendingDays) });
export const spending = z.object({
  /** `YYYY-MM-DD`, oldest first, without gaps. */
  days: z.array(z.iso.date()),
  /** The names that most was spent for, most first, and at the end `null` for all others, if there are any. */
  groups: z.array(z.object({ name: z.string().nullable(), microusd_by_day: z.array(microusd) })),
});

export type LedgerQuery = z.infer<typeof ledgerQuery>;
export type LedgerEntry = z.infer<typeof ledgerEntry>;
export type ConsoleCredits = z.infer<typeof consoleCredits>;
export type StartedCheckout = z.infer<typeof startedCheckout>;
export type SpendingQuery = z.infer<typeof spendingQuery>;
export type Spending = z.infer<typeof spending>;
