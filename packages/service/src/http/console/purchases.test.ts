import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { listAuditEvents } from '../../audit/listAuditEvents.js';
import { readBalance } from '../../ledger/accounts.js';
import { grantCredit } from '../../ledger/grantCredit.js';
import { openStripe } from '../../payments/stripePayments.js';
import {
  paidEvent,
  signatureOf,
  startStubStripe,
  type PaidSession,
  type SignatureOptions,
  type StubStripe,
} from '../../testing/stubStripe.js';
import { createTestProject } from '../../testing/testApp.js';
import { errorOf, signUp, startTestConsole, type TestBrowser, type TestConsole } from '../../testing/testConsole.js';

let stripe: StubStripe;
let service: TestConsole;
let owner: TestBrowser;
before(async () => {
  stripe = await startStubStripe();
  service = await startTestConsole({ payments: openStripe(stripe.config) });
  owner = await signUp(service, 'owner@example.com', 'owner');
});
after(async () => {
  await service.stop();
  await stripe.stop();
});

let paid = 0;
async function newPayment(amountMicrousd = 20_000_000): Promise<PaidSession> {
  paid += 1;
  const { id: memberId } = await service.db
    .selectFrom('members')
    .select('id')
    .where('email', '=', 'owner@example.com')
    .executeTakeFirstOrThrow();
  return {
    event_id: `evt_${paid}`,
    checkout_id: `cs_${paid}`,
    project_id: await createTestProject(service.db, 0),
    member_id: memberId,
    amount_microusd: amountMicrousd,
  };
}

/** Sends what Stripe would send; without a signature where `signed` is `null`. */
async function tell(payload: string, signed: SignatureOptions | null = {}): Promise<Response> {
  return fetch(`${service.url}/console/stripe-events`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json; charset=utf-8',
      ...(signed === null ? {} : { 'stripe-signature': signatureOf(payload, signed) }),
    },
    body: payload,
  });
}

const available = async (projectId: string): Promise<number> =>
  (await readBalance(service.db, projectId)).available_microusd;

describe('a page to pay on', () => {
  it('is Stripe’s, opened for an owner’s own project, and leads back to the console', async () => {
    const project = await createTestProject(service.db, 0);
    const path = `/projects/${project}/checkouts`;
    const answer = await owner.post(path, { amount_microusd: 12_340_000 });
    assert.equal(answer.status, 200, answer.text);
    const session = stripe.sessions.at(-1);
    assert.deepEqual(answer.body, { url: `${stripe.config.apiUrl}/pay/cs_test_${stripe.sessions.length}` });
    assert.equal(session?.key, `Bearer ${stripe.config.secretKey}`);
    for (const [field, value] of [
      ['mode', 'payment'],
      ['line_items[0][price_data][unit_amount]', '1234'],
      ['line_items[0][price_data][currency]', 'usd'],
      ['metadata[engraft_project]', project],
      ['metadata[engraft_amount_microusd]', '12340000'],
      ['success_url', `${service.url}/console/p/${project}/credits?paid=true`],
      ['cancel_url', `${service.url}/console/p/${project}/credits`],
    ] as const)
      assert.equal(session.fields.get(field), value, field);
    assert.equal(await available(project), 0, 'nothing is paid yet');
    for (const amount of [0, 4_990_000, 10_000_010_000, 12_345_678, 12.5, '20000000'])
      assert.equal((await owner.post(path, { amount_microusd: amount })).status, 422, String(amount));
    const developer = await signUp(service, 'developer@example.com', 'developer', project);
    assert.equal((await developer.post(path, { amount_microusd: 20_000_000 })).status, 403);
    const stranger = await signUp(service, 'other@example.com', 'owner', await createTestProject(service.db, 0));
    assert.equal((await stranger.post(path, { amount_microusd: 20_000_000 })).status, 404);
  });

  it('cannot be opened while Stripe has a fault, whose words nobody is told', async () => {
    const project = await createTestProject(service.db, 0);
    for (const fault of [401, 500]) {
      stripe.fault = fault;
      const answer = await owner.post(`/projects/${project}/checkouts`, { amount_microusd: 20_000_000 });
      assert.equal(answer.status, 503);
      assert.match(String(errorOf(answer).message), /^Stripe cannot take a payment now/);
    }
    stripe.fault = null;
    assert.doesNotMatch(service.log(), /a secret of the server|sk_test_/);
  });

  it('is not there where Stripe is not configured, and neither is the address of its events', async (t) => {
    const without = await startTestConsole();
    t.after(() => without.stop());
    const other = await signUp(without, 'owner@example.com', 'owner');
    assert.equal((await other.get('/session')).body['sells_credit'], false);
    const project = await createTestProject(without.db, 0);
    assert.equal((await other.post(`/projects/${project}/checkouts`, { amount_microusd: 5_000_000 })).status, 404);
    assert.equal((await fetch(`${without.url}/console/stripe-events`, { method: 'POST' })).status, 404);
    assert.equal((await owner.get('/session')).body['sells_credit'], true);
  });
});

describe('a payment', () => {
  it('is credit of its project, in the ledger and in the audit log by the name of the buyer', async () => {
    const payment = await newPayment();
    const project = payment.project_id;
    const answer = await tell(paidEvent(payment));
    assert.deepEqual([answer.status, await answer.json()], [200, { received: true }]);
    const credits = await owner.get(`/projects/${project}/credits`);
    assert.equal(credits.body['available_microusd'], 20_000_000);
    assert.match(credits.text, new RegExp(`"kind":"grant".*"memo":"bought through Stripe, ${payment.checkout_id}"`));
    const [event] = await listAuditEvents(service.db, { project_id: project, action: 'credit.purchase', limit: 9 });
    assert.deepEqual([event?.actor, event?.account], ['owner@example.com', 'Stripe']);
    assert.deepEqual(event?.details, { amount_microusd: 20_000_000, checkout_id: payment.checkout_id });
  });

  it('is booked once, however often and by whatever event it is told, by many at once, too', async () => {
    const payment = await newPayment();
    const completed = paidEvent(payment);
    const succeeded = paidEvent(
      { ...payment, event_id: `${payment.event_id}_later` },
      {},
      'checkout.session.async_payment_succeeded',
    );
    const told = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? completed : succeeded));
    const answers = await Promise.all(told.map((payload) => tell(payload)));
    for (const payload of [completed, succeeded]) answers.push(await tell(payload));
    assert.ok(answers.every(({ status }) => status === 200));
    const sameEvent = paidEvent({ ...payment, checkout_id: `${payment.checkout_id}_other` });
    assert.equal((await tell(sameEvent)).status, 200);
    assert.equal(await available(payment.project_id), 20_000_000);
    const events = await listAuditEvents(service.db, {
      project_id: payment.project_id,
      action: 'credit.purchase',
      limit: 9,
    });
    assert.equal(events.length, 1);
  });

  it('that comes by debit is booked when the money is there', async () => {
    const payment = await newPayment();
    assert.equal((await tell(paidEvent(payment, { payment_status: 'unpaid' }))).status, 200);
    assert.equal(await available(payment.project_id), 0);
    const later = { ...payment, event_id: `${payment.event_id}_later` };
    assert.equal((await tell(paidEvent(later, {}, 'checkout.session.async_payment_succeeded'))).status, 200);
    assert.equal(await available(payment.project_id), 20_000_000);
  });
});

describe('what is no payment of ours', () => {
  it('is refused without Stripe’s signature, with another’s, and when it is old; the body counts byte for byte', async () => {
    const payment = await newPayment();
    const payload = paidEvent(payment);
    const seconds = Math.floor(Date.now() / 1000);
    for (const signed of [null, { secret: 'whsec_another' }, { timestamp: seconds - 3_600 }]) {
      const answer = await tell(payload, signed);
      assert.equal(answer.status, 401, JSON.stringify(signed));
    }
    const headers = { 'content-type': 'application/json', 'stripe-signature': signatureOf(payload) };
    const changed = payload.replace('"usd"', ' "usd"');
    const url = `${service.url}/console/stripe-events`;
    assert.equal((await fetch(url, { method: 'POST', headers, body: changed })).status, 401);
    assert.equal((await owner.send('POST', '/console/stripe-events', { body: JSON.parse(payload) })).status, 401);
    assert.equal(await available(payment.project_id), 0);
  });

  it('books nothing: another currency, amount or project, another program’s session, another event', async () => {
    const payment = await newPayment();
    for (const [status, changes, type] of [
      [422, { currency: 'eur' }],
      [422, { amount_total: 1_999 }],
      [422, { amount_total: null }],
      [422, { amount_total: 'many' }],
      [422, { metadata: { engraft_project: payment.project_id } }],
      [200, { metadata: {} }],
      [200, { metadata: null }],
      [200, {}, 'checkout.session.expired'],
    ] as const)
      assert.equal((await tell(paidEvent(payment, changes, type))).status, status, JSON.stringify(changes));
    assert.equal((await tell('this is no JSON')).status, 422);
    // Another installation may sell through the same account.
    assert.equal((await tell(paidEvent({ ...payment, project_id: 'prj_of_another' }))).status, 200);
    assert.match(service.log(), /"outcome":"unknown_project"/);
    assert.equal(await available(payment.project_id), 0);
    assert.equal((await tell(paidEvent(payment))).status, 200, 'nothing of this was taken for the payment');
    assert.equal(await available(payment.project_id), 20_000_000);
  });
});

// Comes last: no credit can be issued after it.
describe('a payment beyond all numbers', () => {
  it('is not booked, and can be told again', async () => {
    const payment = await newPayment();
    const { project_id } = payment;
    const issued = await service.db
      .selectFrom('accounts')
      .select('balance_microusd')
      .where('id', '=', 'issued')
      .executeTakeFirstOrThrow();
    const rest = Number.MAX_SAFE_INTEGER - Math.abs(issued.balance_microusd);
    assert.deepEqual(await grantCredit(service.db, { project_id, amount_microusd: rest, memo: 'all there is' }), {
      kind: 'granted',
    });
    assert.equal((await tell(paidEvent(payment))).status, 422);
    const purchases = service.db.selectFrom('credit_purchases').select('event_id');
    assert.equal((await purchases.where('event_id', '=', payment.event_id).execute()).length, 0);
    assert.match(service.log(), /a payment was told that cannot be booked/);
  });
});
