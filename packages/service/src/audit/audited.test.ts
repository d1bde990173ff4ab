import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { readBalance } from '../ledger/accounts.js';
import { grantCredit } from '../ledger/grantCredit.js';
import { createTestProject } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { audited, type AuditEvent } from './audited.js';
import { listAuditEvents } from './listAuditEvents.js';
import { thisOperator } from './operator.js';

describe('the audit log', () => {
  let database: TestDatabase;
  let projectId: string;
  before(async () => {
    database = await openTestDatabase();
    projectId = await createTestProject(database.db, 0);
  });
  after(() => database.close());

  const grant = (amountMicrousd: number, event: Partial<AuditEvent> = {}) =>
    audited(
      database.db,
      thisOperator({ by: 'Anna' }),
      (trx) => grantCredit(trx, { project_id: projectId, amount_microusd: amountMicrousd, memo: 'test' }),
      () => ({
        action: 'credit.grant',
        project_id: projectId,
        target: projectId,
        details: { amount_microusd: amountMicrousd },
        ...event,
      }),
    );

  it('has an event with each change, and none without it', async () => {
    assert.deepEqual(await grant(5), { kind: 'granted' });
    assert.deepEqual(await grant(Number.MAX_SAFE_INTEGER), { kind: 'too_much' }, 'which is rolled back');
    await assert.rejects(grant(7, { project_id: 'prj_none' }), /foreign key/);
    assert.equal((await readBalance(database.db, projectId)).available_microusd, 5);
    const events = await listAuditEvents(database.db, { limit: 10 });
    assert.deepEqual(
      events.map(({ actor, details }) => [actor, details]),
      [['Anna', { amount_microusd: 5 }]],
    );
  });

  it('is added to and never changed, by the service or the owner of the tables', async () => {
    for (const statement of ['update audit_events set actor = $$x$$', 'delete from audit_events']) {
      await assert.rejects(sql.raw(statement).execute(database.db), /permission denied/);
      await assert.rejects(sql.raw(statement).execute(database.owner), /audit events are never changed/);
    }
    await assert.rejects(sql`truncate audit_events`.execute(database.owner), /audit events are never changed/);
    const backdated = sql`insert into audit_events (occurred_at, action, actor, account, target, details)
      values ('2020-01-01', 'key.create', 'x', 'x', 'x', '{}')`;
    await assert.rejects(backdated.execute(database.db), /permission denied/);
  });
});
