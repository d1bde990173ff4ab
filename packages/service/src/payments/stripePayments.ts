import Stripe from 'stripe';
import { z } from 'zod';
import type { StripeConfig } from '../config/stripeConfig.js';
import type { CheckoutOutcome, CreditOrder, PaymentEvent, Payments } from './payments.js';

const microusdPerCent = 10_000;
const timeoutMs = 15_000;

/** A payment that is made at once is told by the first, and one by debit, days later, by the second. */
const eventTypes: readonly string[] = ['checkout.session.completed', 'checkout.session.async_payment_succeeded'];

/** The names under which Stripe keeps for us what an order is. Other programs' sessions have none of them. */
const ourMetadata = z.object({
  engraft_project: z.string(),
  engraft_member: z.string(),
  engraft_amount_microusd: z.string().regex(/^\d{1,15}$/),
});
const session = z.object({
  id: z.string(),
  payment_status: z.string(),
  currency: z.string().nullable(),
  amount_total: z.int().nullable(),
  metadata: z.record(z.string(), z.string()).nullable(),
});

/** Sells credit through Stripe Checkout: the page on which somebody pays is Stripe's own. */
export function openStripe({ secretKey, webhookSecret, apiUrl }: StripeConfig): Payments {
  const stripe = new Stripe(secretKey, { ...addressOf(apiUrl), timeout: timeoutMs, telemetry: false });
  return {
    startCheckout: (order) => startCheckout(stripe, order),
    readEvent: (body, signature) => {
      let event: Stripe.Event;
      try {
        event = stripe.webhooks.constructEvent(body, signature, webhookSecret);
      } catch (error) {
        if (error instanceof Stripe.errors.StripeSignatureVerificationError) return { kind: 'not_authentic' };
        return { kind: 'unexpected', reason: 'it is not JSON' };
      }
      return readEvent(event);
    },
  };
}

function addressOf(apiUrl: string | null): { host?: string; port?: number; protocol?: 'http' | 'https' } {
  if (apiUrl === null) return {};
  const { hostname, port, protocol } = new URL(apiUrl);
  const isTls = protocol === 'https:';
  return { host: hostname, port: port === '' ? (isTls ? 443 : 80) : Number(port), protocol: isTls ? 'https' : 'http' };
}

async function startCheckout(stripe: Stripe, order: CreditOrder): Promise<CheckoutOutcome> {
  const { project_id, member, amount_microusd } = order;
  try {
    const { url } = await stripe.checkout.sessions.create({
      mode: 'payment',
      line_items: [
        {
          quantity: 1,
          price_data: {
            currency: 'usd',
            unit_amount: amount_microusd / microusdPerCent,
            product_data: { name: 'Credit for Engraft' },
          },
        },
      ],
      customer_email: member.email,
      metadata: {
        engraft_project: project_id,
        engraft_member: member.id,
        engraft_amount_microusd: String(amount_microusd),
      },
      success_url: order.paidUrl,
      cancel_url: order.cancelledUrl,
    });
    return url === null ? { kind: 'unavailable', reason: 'Stripe names no page' } : { kind: 'started', url };
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeError)) throw error;
    // Its message may quote what it was sent.
    return { kind: 'unavailable', reason: [error.type, error.code, error.statusCode].filter(Boolean).join(' ') };
  }
}

/** Types of Stripe's library say what it would send in the newest version, so what came is checked. */
function readEvent({ id, type, data }: Stripe.Event): PaymentEvent {
  if (!eventTypes.includes(type)) return { kind: 'irrelevant' };
  const read = session.safeParse(data.object);
  if (!read.success) return { kind: 'unexpected', reason: z.prettifyError(read.error) };
  const { id: checkoutId, payment_status, currency, amount_total, metadata } = read.data;
  if (metadata?.['engraft_project'] === undefined || payment_status !== 'paid') return { kind: 'irrelevant' };
  const ours = ourMetadata.safeParse(metadata);
  if (!ours.success) return { kind: 'unexpected', reason: z.prettifyError(ours.error) };
  const { engraft_project, engraft_member, engraft_amount_microusd } = ours.data;
  const amountMicrousd = Number(engraft_amount_microusd);
  if (currency !== 'usd' || amount_total === null || amount_total * microusdPerCent !== amountMicrousd)
    return { kind: 'unexpected', reason: `${amount_total} ${currency} were paid for ${amountMicrousd} micro-USD` };
  return {
    kind: 'paid',
    order: {
      event_id: id,
      checkout_id: checkoutId,
      project_id: engraft_project,
      member_id: engraft_member,
      amount_microusd: amountMicrousd,
    },
  };
}
