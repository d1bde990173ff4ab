import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { spending, type SpendingQuery } from '@engraft/contract/console';
import { sql } from 'kysely';
import { listAuditEvents } from '../../audit/listAuditEvents.js';
import { claimJob } from '../../jobs/claimJob.js';
import { completeInference } from '../../jobs/completeInference.js';
import { grantCredit } from '../../ledger/grantCredit.js';
import { createTestProject } from '../../testing/testApp.js';
import { signUp, startTestConsole, type TestBrowser, type TestConsole } from '../../testing/testConsole.js';

let service: TestConsole;
let operator: TestBrowser;
before(async () => {
  service = await startTestConsole();
  operator = await signUp(service, 'operator@example.com', 'owner');
});
after(() => service.stop());

let asked = 0;

/** A question that costs the output of so many tokens at 30 micro-USD. */
async function askFor(projectId: string, subject: string, outputTokens: number): Promise<void> {
  asked += 1;
  const body = { subject_id: subject, question: 'Who?' };
  await operator.post(`/projects/${projectId}/inferences`, body, { 'idempotency-key': `ask-credit-${asked}` });
  const job = await claimJob(service.db, { worker_id: 'w', kind: 'inference', leaseMs: 60_000 });
  assert.ok(job !== null);
  await completeInference(service.db, job, {
    kind: 'succeeded',
    usage: { input_tokens: 0, output_tokens: outputTokens, cached_input_tokens: 0, training_tokens: 0 },
    result: { text: 'an answer', finish_reason: 'stop' },
  });
}

async function spent(projectId: string, by: SpendingQuery['by'], days = '7') {
  const answer = await operator.get(`/projects/${projectId}/spending?by=${by}&days=${days}`);
  assert.equal(answer.status, 200, answer.text);
  return spending.parse(answer.body);
}

describe('spending', () => {
  it('is told by day, for each kind, subject and key; most first, and the rest together', async () => {
    const project = await createTestProject(service.db);
    assert.deepEqual((await spent(project, 'kind')).groups, []);
    for (let subject = 1; subject <= 9; subject += 1) await askFor(project, `s${subject}`, subject);
    const today = new Date().toISOString().slice(0, 10);
    const bySubject = await spent(project, 'subject');
    assert.equal(bySubject.days.length, 7);
    assert.equal(bySubject.days.at(-1), today);
    assert.deepEqual(
      bySubject.groups.map(({ name, microusd_by_day }) => [name, microusd_by_day.at(-1)]),
      [...[9, 8, 7, 6, 5, 4, 3].map((tokens) => [`s${tokens}`, 30 * tokens]), [null, 30 * 3]],
    );
    assert.ok(
      bySubject.groups.every(({ microusd_by_day }) => microusd_by_day.slice(0, -1).every((each) => each === 0)),
    );
    const byKind = await spent(project, 'kind', '30');
    assert.deepEqual(
      byKind.groups.map(({ name, microusd_by_day }) => [name, microusd_by_day.length, microusd_by_day.at(-1)]),
      [['questions', 30, 30 * 45]],
    );
    const byKey = await spent(project, 'key');
    assert.match(byKey.groups[0]?.name ?? '', /^engraft console …/);
    const strange = await operator.get(`/projects/${project}/spending?by=color&days=7`);
    assert.equal(strange.status, 422);
  });
});

describe('the ledger as CSV', () => {
  it('has every entry, quotes what would break a line, and gives a spreadsheet no formula', async () => {
    const project = await createTestProject(service.db, 0);
    const memos = ['=HYPERLINK("https://evil.example")', 'two\nlines', 'plain, with a comma', 'plain'];
    for (const memo of memos) await grantCredit(service.db, { project_id: project, amount_microusd: 1, memo });
    // More than one page of the database.
    await sql`insert into transfers (kind, from_account, to_account, amount_microusd, memo)
      select 'grant', 'issued', ${`available:${project}`}, 1, 'many' from generate_series(1, 4500)`.execute(
      service.owner,
    );
    const file = await operator.get(`/projects/${project}/ledger.csv`);
    assert.match(file.headers.get('content-type') ?? '', /^text\/csv/);
    assert.match(file.headers.get('content-disposition') ?? '', /attachment/);
    const lines = file.text.split('\r\n');
    assert.equal(lines[0], 'id,created_at,kind,amount_microusd,subject,job,version,memo');
    assert.equal(lines.length - 2, 4504, 'the head, and nothing after the last line');
    assert.ok(file.text.includes(`,"'=HYPERLINK(""https://evil.example"")"\r\n`));
    assert.ok(file.text.includes(',"two\nlines"\r\n'));
    assert.ok(file.text.includes(',"plain, with a comma"\r\n'));
    const ids = lines.slice(1, -1).map((line) => line.split(',')[0]);
    assert.equal(new Set(ids).size, 4504);
  });
});

describe('a grant', () => {
  it('is an operator’s alone, has a reason, and is in the audit log', async () => {
    const project = await createTestProject(service.db, 0);
    const path = `/projects/${project}/grants`;
    const grant = { amount_microusd: 5_000_000, reason: 'a trial' };
    const owner = await signUp(service, 'owner@example.com', 'owner', project);
    assert.equal((await owner.post(path, grant)).status, 403);
    for (const wrong of [{ ...grant, amount_microusd: 0 }, { ...grant, reason: '' }, { amount_microusd: 1 }])
      assert.equal((await operator.post(path, wrong)).status, 422);
    assert.equal((await operator.post(path, grant)).status, 204);
    const credits = await owner.get(`/projects/${project}/credits`);
    assert.equal(credits.body['available_microusd'], 5_000_000);
    const [event] = await listAuditEvents(service.db, { project_id: project, action: 'credit.grant', limit: 1 });
    assert.deepEqual([event?.actor, event?.reason], ['operator@example.com', 'a trial']);
  });
});
