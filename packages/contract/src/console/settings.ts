import { z } from 'zod';

/** Projects and their settings: what `/console/api` and the command line take, and what the console answers. */

export const projectName = z
  .string()
  .regex(
    /^(?!.*\p{Cc})\S(.{0,126}\S)?$/su,
    '1 to 128 characters, none of them a control character, and no space at the ends',
  );

/** The least and the greatest value of each setting. A limit may also be `null`: there is none. */
export const settingBounds = {
  monthly_spending_limit_microusd: { min: 0, max: 999_999_999_999_999 },
  monthly_learning_capacity_microusd: { min: 0, max: 999_999_999_999_999 },
  version_retention_days: { min: 1, max: 36_500 },
  requests_per_minute: { min: 1, max: 1_000_000 },
} as const;

function whole({ min, max }: { readonly min: number; readonly max: number }) {
  const range = `a whole number from ${min} to ${max}`;
  return z.int(range).min(min, range).max(max, range);
}

const settings = {
  monthly_spending_limit_microusd: whole(settingBounds.monthly_spending_limit_microusd).nullable(),
  monthly_learning_capacity_microusd: whole(settingBounds.monthly_learning_capacity_microusd).nullable(),
  version_retention_days: whole(settingBounds.version_retention_days),
  requests_per_minute: whole(settingBounds.requests_per_minute),
} as const;

/** Limits are `null` when there is none. What is answered has no bounds: rows may be older than they. */
export const projectSettings = z.object({
  monthly_spending_limit_microusd: z.int().nullable(),
  monthly_learning_capacity_microusd: z.int().nullable(),
  version_retention_days: z.int(),
  requests_per_minute: z.int(),
});

export const newProjectRequest = z.strictObject({ name: projectName });
/** Changes what it names, at least one of them. */
export const projectChangeRequest = z
  .strictObject({
    name: projectName.exactOptional(),
    monthly_spending_limit_microusd: settings.monthly_spending_limit_microusd.exactOptional(),
    monthly_learning_capacity_microusd: settings.monthly_learning_capacity_microusd.exactOptional(),
    version_retention_days: settings.version_retention_days.exactOptional(),
    requests_per_minute: settings.requests_per_minute.exactOptional(),
  })
  .refine((changes) => Object.keys(changes).length > 0, 'name at least one thing to change');

/** `this_month` is the calendar month in UTC, as the limits count it. */
export const consoleSettings = z.object({
  name: z.string(),
  settings: projectSettings,
  this_month: z.object({
    spent_microusd: z.int(),
    reserved_microusd: z.int(),
    learning_spent_microusd: z.int(),
    learning_reserved_microusd: z.int(),
  }),
});

export type ProjectSettings = z.infer<typeof projectSettings>;
export type NewProjectRequest = z.input<typeof newProjectRequest>;
export type ProjectChangeRequest = z.infer<typeof projectChangeRequest>;
export type ConsoleSettings = z.infer<typeof consoleSettings>;
