import { ApiError, readRequest } from '@engraft/contract';
import { purchaseRequest, type StartedCheckout } from '@engraft/contract/console';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Kysely } from 'kysely';
import type { Database } from '../../db/schema.js';
import { bookPurchase } from '../../payments/bookPurchase.js';
import type { Payments } from '../../payments/payments.js';
import { refuseStranger, type StrangerLimits } from '../limitStrangers.js';
import { invalid, readBodyBytes, readJsonBody, refuseQueryParameters } from '../readBody.js';
import { memberOf, projectOf } from './guardRequests.js';

/** Opens the page on which a member pays. It comes back to the page of credits. */
export function purchaseRoutes(api: FastifyInstance, payments: Payments): void {
  api.post(
    '/projects/:project/checkouts',
    { config: { console: 'buy_credit' } },
    async (request): Promise<StartedCheckout> => {
      refuseQueryParameters(request);
      const { amount_microusd } = readJsonBody(request, (body) => readRequest(purchaseRequest, body));
      const project = projectOf(request);
      const page = `${ownOrigin(request)}/console/p/${project}/credits`;
      const outcome = await payments.startCheckout({
        project_id: project,
        member: memberOf(request),
        amount_microusd,
        paidUrl: `${page}?paid=true`,
        cancelledUrl: page,
      });
      if (outcome.kind === 'started') return { url: outcome.url };
      request.log.error({ reason: outcome.reason }, 'Stripe opened no page to pay on');
      throw new ApiError('service_unavailable', { message: 'Stripe cannot take a payment now. Try again later.' });
    },
  );
}

/** The page that asks is one of this console, see `refuseOtherSites`; so its origin is where to come back to. */
function ownOrigin({ headers: { origin } }: FastifyRequest): string {
  if (origin === undefined) throw new Error('a write came without Origin');
  return new URL(origin).origin;
}

interface WebhookContext {
  readonly db: Kysely<Database>;
  readonly strangers: StrangerLimits;
}

/** `POST /console/stripe-events`: Stripe tells what was paid. Its signature is the only credential. */
export function stripeWebhook(app: FastifyInstance, { db, strangers }: WebhookContext, payments: Payments): void {
  app.register((hook, _options, registered) => {
    hook.addHook('preParsing', async (request, _reply, payload) => {
      request.state.body = await readBodyBytes(payload);
      return payload;
    });
    hook.post('/console/stripe-events', async (request, reply): Promise<{ readonly received: true }> => {
      const allowance = strangers.take('unknown_key', request);
      if (allowance.kind === 'refused') return refuseStranger(reply, allowance);
      const signature = request.headers['stripe-signature'];
      const event = payments.readEvent(request.state.body ?? Buffer.alloc(0), String(signature));
      if (event.kind === 'not_authentic')
        throw new ApiError('unauthorized', { message: 'The signature is missing, wrong or too old.' });
      strangers.giveBack('unknown_key', request);
      if (event.kind === 'unexpected') throw refuseEvent(request, event.reason);
      if (event.kind === 'paid') {
        const { kind } = await bookPurchase(db, event.order);
        if (kind === 'too_much') throw refuseEvent(request, 'all grants together would be too large a number');
        request.log.info({ outcome: kind, checkout_id: event.order.checkout_id }, 'a payment was told');
      }
      return { received: true };
    });
    registered();
  });
}

/** Stripe sends it again for some days and shows the operator that it was refused: somebody paid, and has no credit. */
function refuseEvent(request: FastifyRequest, reason: string): ApiError {
  request.log.error({ reason }, 'a payment was told that cannot be booked');
  return invalid('', `the payment cannot be booked: ${reason}`);
}
