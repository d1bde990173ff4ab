import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { inTransaction } from '../db/transaction.js';
import { lockBalance } from '../ledger/accounts.js';
import { close, database, newKey, open } from '../testing/admissionTest.js';
import { buildTestApp, call, type TestKey } from '../testing/testApp.js';

before(open);
after(close);

/** More than the pool has connections. */
const atOnce = 40;

const messages = [{ role: 'user', content: 'question?' }];
const endpoints = {
  '/v1/chat/completions': { status: 409, body: { model: 'model-5.3', messages } },
  '/v1/inferences': { status: 202, body: { subject_id: 'subject', messages } },
  '/v1/internalizations': {
    status: 202,
    body: { subject_id: 'subject', content: 'The lamp weighs 412 grams.', max_cost_microusd: 1_000_000 },
  },
} as const;

/** Keeps every admission of the project waiting for the lock of its balance. Returns what lets them go on. */
async function holdBalance({ project_id }: TestKey): Promise<() => Promise<void>> {
  let isHeld: () => void = () => undefined;
  let letGo: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (isHeld = resolve));
  const goOn = new Promise<void>((resolve) => (letGo = resolve));
  const holding = inTransaction(database.owner, null, async (trx) => {
    await lockBalance(trx, project_id);
    isHeld();
    await goOn;
  });
  await held;
  return async () => {
    letGo();
    await holding;
  };
}

describe('admissions of one project with idempotency keys, more than there are connections, leave some to others', () => {
  for (const [url, { status, body }] of Object.entries(endpoints)) {
    test(`POST ${url}`, async () => {
      const [key, other] = [await newKey(), await newKey()];
      const { app } = buildTestApp(database.db);
      const letGo = await holdBalance(key);
      const answers = Array.from({ length: atOnce }, (_, index) =>
        call(app, 'POST', url, { key, body, headers: { 'idempotency-key': `operation-${index}` } }),
      );
      try {
        const models = await call(app, 'GET', '/v1/models', { key: other });
        assert.equal(models.statusCode, 200);
        const asked = await call(app, 'POST', '/v1/inferences', {
          key: other,
          body: endpoints['/v1/inferences'].body,
          headers: { 'idempotency-key': 'of-another' },
        });
        assert.equal(asked.statusCode, 202);
      } finally {
        await letGo();
      }
      // Nobody works on them, so a chat completion ends with 409 at once.
      const statuses = (await Promise.all(answers)).map(({ statusCode }) => statusCode);
      assert.deepEqual(statuses, Array<number>(atOnce).fill(status));
      await app.close();
    });
  }
});
