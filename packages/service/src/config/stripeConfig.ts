import { z } from 'zod';

/** The account at Stripe through which credit is sold. */
export interface StripeConfig {
  /** It is never printed, and neither is the other. */
  readonly secretKey: string;
  /** With which Stripe signs its events. */
  readonly webhookSecret: string;
  /** Base address of the interface; `null` for Stripe's own. */
  readonly apiUrl: string | null;
}

// Refuses what a header could not carry. The message must not show it.
const secret = z
  .string()
  .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
  .optional();

export const stripeVariables = {
  ENGRAFT_STRIPE_SECRET_KEY: secret,
  ENGRAFT_STRIPE_WEBHOOK_SECRET: secret,
  ENGRAFT_STRIPE_API_URL: z
    .url({ protocol: /^https?$/, error: 'must start with http:// or https://' })
    .refine((url) => URL.canParse(url) && new URL(url).pathname === '/', 'must have no path')
    .optional(),
};

type StripeVariables = z.output<z.ZodObject<typeof stripeVariables>>;

/** Names what is missing from the two secrets, as "VARIABLE fault". `null` if nothing is. */
export function missingOfStripe(values: StripeVariables): string | null {
  const { ENGRAFT_STRIPE_SECRET_KEY: secretKey, ENGRAFT_STRIPE_WEBHOOK_SECRET: webhookSecret } = values;
  if ((secretKey === undefined) === (webhookSecret === undefined)) return null;
  return secretKey === undefined
    ? 'ENGRAFT_STRIPE_SECRET_KEY is needed with ENGRAFT_STRIPE_WEBHOOK_SECRET'
    : 'ENGRAFT_STRIPE_WEBHOOK_SECRET is needed with ENGRAFT_STRIPE_SECRET_KEY';
}

/** `null` if no credit is sold. */
export function stripeConfigOf(values: StripeVariables): StripeConfig | null {
  const { ENGRAFT_STRIPE_SECRET_KEY: secretKey, ENGRAFT_STRIPE_WEBHOOK_SECRET: webhookSecret } = values;
  if (secretKey === undefined || webhookSecret === undefined) return null;
  return { secretKey, webhookSecret, apiUrl: values.ENGRAFT_STRIPE_API_URL ?? null };
}
