import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { cancelJob } from '../jobs/cancelJob.js';
import { close, context, database, newKey, open, operation } from '../testing/admissionTest.js';
import { buildTestApp, type TestKey } from '../testing/testApp.js';
import { AdmissionTurns } from './admissionTurns.js';
import { admitChatJob, type ChatAdmissionContext } from './admitChatJob.js';
import { FullQueues } from './fullQueues.js';
import { UnderWay } from './underWay.js';

before(open);
after(close);

const far = 100_000;
const limits = { of_project: 3, of_service: far };

function ofProcess(): ChatAdmissionContext {
  const fullQueues = new FullQueues(() => performance.now());
  return { ...context, open_jobs: limits, fullQueues, turns: new AdmissionTurns(), underWay: new UnderWay() };
}

function ask(asking: ChatAdmissionContext, key: TestKey, isNew = true) {
  return admitChatJob(asking, { ...operation(key), isNew });
}

/** Takes both turns of the project. The caller gives them back. */
function takeTurns({ turns }: ChatAdmissionContext, key: TestKey): () => void {
  let giveBack: () => void = () => undefined;
  const given = new Promise<void>((resolve) => (giveBack = resolve));
  for (let turn = 0; turn < 2; turn += 1) void turns.take(key.project_id, () => given);
  return giveBack;
}

describe('a chat completion that would have to wait for its admission', () => {
  for (const [whose, openJobs] of [
    ['project', limits],
    ['service', { of_project: far, of_service: 3 }],
  ] as const) {
    test(`is refused when as many are under way as the ${whose} may have open`, async () => {
      const [key, asking] = [await newKey(), { ...ofProcess(), open_jobs: openJobs }];
      const giveBack = takeTurns(asking, key);
      for (let begun = 0; begun < 4; begun += 1) asking.underWay.begin(key.project_id);
      assert.deepEqual(await ask(asking, key), { kind: 'refused', code: `${whose}_queue_full` });
      assert.equal(asking.fullQueues.isAnyFull(), true);
      const mayBeReplay = ask(asking, key, false);
      giveBack();
      assert.equal((await mayBeReplay).kind, 'admitted');
    });
  }

  test('waits while fewer are under way', async () => {
    const [key, asking] = [await newKey(), ofProcess()];
    const giveBack = takeTurns(asking, key);
    for (let begun = 0; begun < 3; begun += 1) asking.underWay.begin(key.project_id);
    const waiting = ask(asking, key);
    assert.equal(await Promise.race([waiting, sleep(50, 'it waits')]), 'it waits');
    giveBack();
    assert.equal((await waiting).kind, 'admitted');
  });
});

test('a chat completion that need not wait looks for itself, whatever is under way', async () => {
  const [key, asking] = [await newKey(), ofProcess()];
  for (let begun = 0; begun < 10; begun += 1) asking.underWay.begin(key.project_id);
  assert.equal((await ask(asking, key)).kind, 'admitted');
});

test('many chat completions at once fill the queue and no more, and leave nothing counted behind', async () => {
  const key = await newKey();
  const { app } = buildTestApp(database.db, { open_jobs: { of_project: 5, of_service: far }, chatWaitMs: 500 });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const post = async (): Promise<number> => {
    const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'model-5.3', messages: [{ role: 'user', content: 'question?' }] }),
    });
    await response.arrayBuffer();
    return response.status;
  };
  const statuses = async (count: number) => (await Promise.all(Array.from({ length: count }, post))).sort();
  for (let round = 0; round < 3; round += 1) {
    // Nobody works on them, so the wait of those that are admitted ends with 409.
    assert.deepEqual(await statuses(40), [...Array<number>(5).fill(409), ...Array<number>(35).fill(429)]);
    await endJobs(key);
    // The queue counts as full for a moment more.
    await sleep(250);
    assert.deepEqual(await statuses(5), Array<number>(5).fill(409));
    await endJobs(key);
    await sleep(250);
  }
  await app.close();
});

async function endJobs(key: TestKey): Promise<void> {
  const open = await database.db
    .selectFrom('jobs')
    .select('id')
    .where('project_id', '=', key.project_id)
    .where('status', '=', 'queued')
    .execute();
  for (const { id } of open) assert.equal((await cancelJob(database.db, id)).kind, 'cancelled');
}
