import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStripe, paidEvent, signatureOf, startStubStripe } from '@engraft/service/testing/stubStripe.js';
import { openBrowser, setUp, skip } from './consoleBrowser.js';

/** A stand-in takes Stripe's place: it opens a page, and the test tells that somebody paid there. */
test('in a browser: credit is bought by an owner, who comes back from paying and sees it', { skip }, async (t) => {
  const stripe = await startStubStripe();
  t.after(() => stripe.stop());
  const console = await openBrowser(t, { payments: openStripe(stripe.config) });
  const { page, service, check } = console;
  await setUp(console);
  await page.getByRole('link', { name: 'Credits' }).press('Enter');
  await page
    .getByText(/^\$100\.00$/)
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'Buy credit' }).press('Enter');
  await check('buy-credit');
  await page.getByLabel('Amount, in USD').press('Control+A');
  await page.keyboard.type('25');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Pay' }).press('Enter');
  await page.getByText('Thank you.').waitFor();
  const fields = stripe.sessions.at(-1)?.fields;
  const payload = paidEvent({
    event_id: 'evt_1',
    checkout_id: 'cs_test_1',
    project_id: fields?.get('metadata[engraft_project]') ?? '',
    member_id: fields?.get('metadata[engraft_member]') ?? '',
    amount_microusd: 25_000_000,
  });
  const headers = { 'content-type': 'application/json', 'stripe-signature': signatureOf(payload) };
  const told = await fetch(`${service.url}/console/stripe-events`, { method: 'POST', headers, body: payload });
  assert.equal(told.status, 200);
  await page.getByText(/^\$125\.00$/).waitFor();
  await page.getByText('bought through Stripe, cs_test_1').waitFor();
  console.assertFine();
});
