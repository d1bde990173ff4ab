import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import Stripe from 'stripe';
import type { StripeConfig } from '../config/stripeConfig.js';

export interface StubStripe {
  readonly config: StripeConfig;
  /** The fields of the sessions that were asked for, by Stripe's names, and the key that came with each. */
  readonly sessions: { readonly key: string; readonly fields: ReadonlyMap<string, string> }[];
  /** The status of every answer from now on that is an error; `null`: none is. */
  fault: number | null;
  stop(): Promise<void>;
}

export { openStripe } from '../payments/stripePayments.js';

const webhookSecret = 'whsec_of_a_stand_in';

/**
 * A stand-in for Stripe on a real socket, and a fault injector: it opens sessions of Checkout, takes no money, and
 * answers with errors when told. Its events are signed by Stripe's own library.
 */
export async function startStubStripe(): Promise<StubStripe> {
  const sessions: StubStripe['sessions'] = [];
  const server = http.createServer((message, response) => {
    // A caller that dies within its request has asked for nothing.
    void text(message).then(
      (body) => {
        if (message.method === 'GET') sendPage(response, sessions.at(-1)?.fields.get('success_url') ?? '');
        else if (stub.fault === null) {
          sessions.push({ key: message.headers.authorization ?? '', fields: new Map(new URLSearchParams(body)) });
          const id = `cs_test_${sessions.length}`;
          sendJson(response, 200, { id, object: 'checkout.session', url: `${apiUrl}/pay/${id}` });
        } else sendJson(response, stub.fault, { error: { type: 'api_error', message: 'a secret of the server' } });
      },
      () => response.destroy(),
    );
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stub: StubStripe = {
    config: { secretKey: 'sk_test_of_a_stand_in', webhookSecret, apiUrl },
    sessions,
    fault: null,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
  return stub;
}

/** Stripe's library tries an error again, unless it is told not to. */
function sendJson(response: http.ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'stripe-should-retry': 'false' });
  response.end(JSON.stringify(body));
}

/** The page on which somebody would pay. */
function sendPage(response: http.ServerResponse, successUrl: string): void {
  response.setHeader('content-type', 'text/html; charset=utf-8');
  response.end(`<!doctype html><title>A stand-in for Stripe</title><a href="${successUrl}">Pay</a>`);
}

export interface PaidSession {
  readonly event_id: string;
  readonly checkout_id: string;
  readonly project_id: string;
  readonly member_id: string;
  readonly amount_microusd: number;
}

/** The event of a session that was paid, as Stripe sends it. Fields of the session may be changed. */
export function paidEvent(paid: PaidSession, changes: Readonly<Record<string, unknown>> = {}, type?: string): string {
  return JSON.stringify({
    id: paid.event_id,
    object: 'event',
    type: type ?? 'checkout.session.completed',
    data: {
      object: {
        id: paid.checkout_id,
        object: 'checkout.session',
        payment_status: 'paid',
        currency: 'usd',
        amount_total: paid.amount_microusd / 10_000,
        metadata: {
          engraft_project: paid.project_id,
          engraft_member: paid.member_id,
          engraft_amount_microusd: String(paid.amount_microusd),
        },
        ...changes,
      },
    },
  });
}

/** The header with which Stripe would send the body. `timestamp` in seconds since 1970; now, if left out. */
export function signatureOf(payload: string, { secret = webhookSecret, timestamp }: SignatureOptions = {}): string {
  const { webhooks } = new Stripe('sk_test_of_a_stand_in');
  return webhooks.generateTestHeaderString({ payload, secret, ...(timestamp === undefined ? {} : { timestamp }) });
}

export interface SignatureOptions {
  readonly secret?: string;
  readonly timestamp?: number;
}
