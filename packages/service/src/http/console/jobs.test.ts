import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { consoleJob, type ConsoleJob } from '@engraft/contract/console';
import { listAuditEvents } from '../../audit/listAuditEvents.js';
import { inTransaction } from '../../db/transaction.js';
import { claimJob } from '../../jobs/claimJob.js';
import { forgetJobs } from '../../jobs/forgetJobs.js';
import { requireReconciliation } from '../../jobs/requireReconciliation.js';
import { readBalance } from '../../ledger/accounts.js';
import { scriptedLearner } from '../../testing/scriptedLearner.js';
import { createTestProject } from '../../testing/testApp.js';
import { errorOf, signUp, startTestConsole, type TestBrowser, type TestConsole } from '../../testing/testConsole.js';
import { startTestService, type TestService } from '../../testing/testService.js';

const passage = {
  subject_id: 'stones',
  content: 'Three stones lie in the garden of the old house, and each has a name.',
  max_cost_microusd: 2_000_000,
};

describe('a learning job that has ended', () => {
  let service: TestService;
  let owner: TestBrowser;
  before(async () => {
    const script = { slow: () => Promise.resolve(false), disk_full: () => Promise.resolve(false), elsewhere: null };
    const { engine, method } = scriptedLearner(script);
    service = await startTestService(engine, {}, method);
    owner = await signUp(service, 'owner@example.com', 'owner');
  });
  after(() => service.stop());

  const path = (id: string): string => `/projects/${service.key.project_id}/jobs/${id}`;

  async function learned(): Promise<ConsoleJob> {
    const sent = await owner.post(`/projects/${service.key.project_id}/internalizations`, passage, {
      'idempotency-key': 'learn-0001',
    });
    for (;;) {
      const detail = consoleJob.parse((await owner.get(path(String(sent.body['id'])))).body);
      if (detail.job.billing.settled) return detail;
      await sleep(50);
    }
  }

  it('shows the held-out questions with both answers, its loss, and a cost that adds up; all but the cost is forgotten', async () => {
    const detail = await learned();
    assert.equal(detail.job.status, 'ready');
    assert.ok(detail.trace !== null);
    const { questions, loss } = detail.trace;
    assert.ok(questions.length > 0);
    for (const { question, answer, parent, candidate } of questions) {
      assert.match(question, /stone \d/);
      assert.deepEqual(candidate, { text: answer, is_right: true });
      assert.deepEqual(parent, { text: 'Nobody knows.', is_right: false });
    }
    const { result } = detail.job;
    assert.ok(result !== null && 'training' in result);
    assert.deepEqual(loss.at(-1), { step: result.training.steps, loss: 0.5 });

    const { usage, billing } = detail.job;
    const nanousd =
      (usage.input_tokens - usage.cached_input_tokens) * detail.rates.input_nanousd_per_token +
      usage.cached_input_tokens * detail.rates.cached_input_nanousd_per_token +
      usage.output_tokens * detail.rates.output_nanousd_per_token +
      usage.training_tokens * detail.rates.training_nanousd_per_token;
    assert.equal(billing.compute_microusd, Math.ceil(nanousd / 1_000));
    for (const kind of ['input_tokens', 'output_tokens', 'training_tokens'] as const) {
      const ofPhases = detail.phases.reduce((sum, phase) => sum + phase.usage[kind], 0);
      assert.equal(ofPhases, usage[kind], kind);
    }

    await inTransaction(service.db, null, (trx) => forgetJobs(trx, [detail.job.id]));
    assert.equal((await owner.get(path(detail.job.id))).status, 404);
    const row = await service.db
      .selectFrom('jobs')
      .select('learning_trace')
      .where('id', '=', detail.job.id)
      .executeTakeFirstOrThrow();
    assert.equal(row.learning_trace, null);
  });
});

describe('a job that needs reconciliation', () => {
  let service: TestConsole;
  let projectId: string;
  before(async () => {
    service = await startTestConsole();
    projectId = await createTestProject(service.db);
  });
  after(() => service.stop());

  it('is settled once, by an operator alone, with a reason that the audit log keeps', async () => {
    const operator = await signUp(service, 'operator@example.com', 'owner');
    const owner = await signUp(service, 'owner@example.com', 'owner', projectId);
    const sent = await owner.post(`/projects/${projectId}/internalizations`, passage, {
      'idempotency-key': 'learn-0001',
    });
    const id = String(sent.body['id']);
    const path = `/projects/${projectId}/jobs/${id}/resolution`;
    const found = { charged_microusd: 500_000, reason: 'the invoice of the teacher' };
    assert.equal((await operator.post(path, found)).status, 422, 'it is not in this state yet');
    const lease = await claimJob(service.db, { worker_id: 'w', kind: 'internalization', leaseMs: 60_000 });
    assert.ok(lease !== null);
    await requireReconciliation(service.db, lease, 'receipt_missing');

    assert.equal((await owner.post(path, found)).status, 403);
    const elsewhere = await createTestProject(service.db);
    assert.equal((await operator.post(`/projects/${elsewhere}/jobs/${id}/resolution`, found)).status, 404);
    assert.equal((await operator.post(path, { ...found, reason: ' ' })).status, 422);
    const tooMuch = await operator.post(path, { ...found, charged_microusd: 2_000_001 });
    assert.match(String(errorOf(tooMuch).message), /charged_microusd.*2000000/);
    assert.equal((await operator.post(path, found)).status, 204);
    assert.equal((await operator.post(path, found)).status, 422, 'a second time');
    assert.equal((await readBalance(service.db, projectId)).spent_microusd, 500_000);
    const [event] = await listAuditEvents(service.db, { project_id: projectId, action: 'job.resolve', limit: 1 });
    assert.deepEqual(
      [event?.actor, event?.reason, event?.target],
      ['operator@example.com', 'the invoice of the teacher', id],
    );
  });
});
