import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { computeChargeMicrousd, currentPriceCard } from '@engraft/contract';
import { isRight, parsePassageSet, type PassageEntry } from '@engraft/evaluation';
import { z } from 'zod';
import { engraft, startService, type ServiceProcess } from '../crash/serviceProcess.js';
import { settingsFor, teacherOfVariables, TeacherProcess } from './namedTeacher.js';
import { startRecordingProxy, type RecordingProxy, type SaidUsage } from './recordingProxy.js';

const inRepository = (name: string): string => fileURLToPath(new URL(`../../../${name}`, import.meta.url));

/** The documentation's passage, and two of natural English. */
async function readPassages(): Promise<readonly PassageEntry[]> {
  const passage = (await readFile(inRepository('examples/lamp.txt'), 'utf8')).trim();
  const asked = z
    .array(z.object({ question: z.string(), answer: z.string() }))
    .parse(JSON.parse(await readFile(inRepository('examples/lamp.questions.json'), 'utf8')));
  const questions = asked.map(({ question, answer }) => ({ phrasings: [question], answers: [answer] }));
  const set = parsePassageSet(await readFile(inRepository('bench/learning/passages.jsonl'), 'utf8'));
  assert.equal(set.kind, 'read');
  return [{ id: 'lamp', kind: 'product', passage, questions }, ...set.passages.slice(0, 2)];
}

const calls = z.object({
  status: z.string(),
  teacher_calls: z.object({
    made: z.int(),
    without_receipt: z.int(),
    input_tokens: z.int(),
    output_tokens: z.int(),
    cached_input_tokens: z.int(),
  }),
});

const maxCostMicrousd = 20_000_000;
const named = teacherOfVariables();
const none = 'ENGRAFT_TEST_TEACHER_URL and ENGRAFT_TEST_TEACHER_MODEL name no server';

describe('a service that a server of your own teaches', { skip: named === null && none }, () => {
  let dataFolder: string;
  let service: ServiceProcess | null = null;
  let passages: readonly PassageEntry[];
  const command = named?.command ?? null;
  const server = named !== null && command !== null ? new TeacherProcess(command, named) : null;
  const noCommand = server === null && 'ENGRAFT_TEST_TEACHER_COMMAND does not say how the server is started';
  before(async () => {
    dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-teacher-'));
    passages = await readPassages();
    await server?.start();
  });
  after(async () => {
    await service?.stop();
    await server?.kill();
    await rm(dataFolder, { recursive: true });
  });

  /** `engraft serve`, with the model of `ENGRAFT_TEST_MODEL_DIR` or the shipped one; the one before is stopped. */
  async function serve(url: string): Promise<ServiceProcess> {
    await service?.stop();
    const modelFolder = process.env['ENGRAFT_TEST_MODEL_DIR'] ?? '';
    service = await startService(dataFolder, undefined, {
      ...settingsFor(named ?? assert.fail(none), url),
      ENGRAFT_MODEL_DIR: modelFolder,
    });
    return service;
  }

  const learn = (running: ServiceProcess, { id, passage }: PassageEntry) =>
    running.client.internalizations.create({ subject_id: id, content: passage, max_cost_microusd: maxCostMicrousd });

  const show = async (id: string) => calls.parse(await engraft(dataFolder, 'job', 'show', id));

  async function verifyLedger(): Promise<void> {
    const report = z.object({ ok: z.boolean() }).parse(await engraft(dataFolder, 'ledger', 'verify'));
    assert.ok(report.ok, JSON.stringify(report));
  }

  async function untilAsked(id: string): Promise<void> {
    while ((await show(id)).teacher_calls.without_receipt === 0) {
      assert.ok(['queued', 'running'].includes((await show(id)).status), 'the teacher is too fast for this test');
    }
  }

  async function answeredOf(running: ServiceProcess, { id, questions }: PassageEntry): Promise<string> {
    const asked = questions.flatMap(({ phrasings, answers }) => phrasings.map((question) => ({ question, answers })));
    let right = 0;
    for (const { question, answers } of asked) {
      const messages = [{ role: 'user' as const, content: question }];
      const { id: job } = await running.client.inferences.create({ subject_id: id, messages, max_output_tokens: 32 });
      const { result } = await running.client.jobs.wait(job);
      const text = result !== null && 'text' in result ? result.text : '';
      if (isRight({ question, answers }, text)) right += 1;
    }
    return `${right} of ${asked.length}`;
  }

  async function learnAndCompare(t: TestContext, running: ServiceProcess, proxy: RecordingProxy, entry: PassageEntry) {
    const before = proxy.said.length;
    const job = await running.client.jobs.wait((await learn(running, entry)).id);
    assert.ok(['ready', 'rejected'].includes(job.status), `${entry.id}: ${job.status} ${job.error?.code ?? ''}`);
    const said = proxy.said.slice(before);
    assert.deepEqual((await show(job.id)).teacher_calls, { made: said.length, without_receipt: 0, ...sumOf(said) });
    const { usage, billing } = job;
    assert.ok(usage.input_tokens >= sumOf(said).input_tokens && usage.output_tokens >= sumOf(said).output_tokens);
    assert.equal(billing.compute_microusd, computeChargeMicrousd(usage, currentPriceCard));
    const right = job.status === 'ready' ? await answeredOf(running, entry) : 'none';
    const told = { passage: entry.id, status: job.status, right, calls: said.length, teacher: sumOf(said), usage };
    t.diagnostic(JSON.stringify({ ...told, charged_microusd: billing.charged_microusd, validation: job.result }));
  }

  it('learns three passages, and bills what the server says', async (t) => {
    const proxy = await startRecordingProxy(named?.url ?? '');
    try {
      const running = await serve(proxy.url);
      for (const entry of passages) await learnAndCompare(t, running, proxy, entry);
      await verifyLedger();
    } finally {
      await proxy.stop();
    }
  });

  it('waits for a server that is silent for a while, and goes on', { skip: noCommand }, async () => {
    const running = await serve(named?.url ?? '');
    const { id } = await learn(running, passages[0] ?? assert.fail());
    await untilAsked(id);
    server?.signal('SIGSTOP');
    await sleep(20_000);
    assert.equal((await show(id)).status, 'running');
    server?.signal('SIGCONT');
    const job = await running.client.jobs.wait(id);
    assert.ok(['ready', 'rejected'].includes(job.status), job.error?.code);
    assert.equal((await show(id)).teacher_calls.without_receipt, 0);
  });

  it('leaves no job without an end and no cent unexplained when the server dies', { skip: noCommand }, async () => {
    const running = await serve(named?.url ?? '');
    const entry = passages[1] ?? assert.fail();
    const asked = await learn(running, entry);
    await untilAsked(asked.id);
    await server?.kill();
    const unaccounted = await running.client.jobs.wait(asked.id);
    assert.deepEqual(
      [unaccounted.status, unaccounted.error?.code, unaccounted.billing.settled],
      ['reconciliation_required', 'receipt_missing', false],
    );
    const { teacher_calls } = await show(asked.id);
    assert.ok(teacher_calls.without_receipt > 0);
    assert.equal(unaccounted.usage.input_tokens, teacher_calls.input_tokens);

    const refused = await running.client.jobs.wait((await learn(running, entry)).id);
    assert.deepEqual(
      [refused.status, refused.error?.code, refused.billing.charged_microusd],
      ['failed', 'engine_failed', 0],
    );
    assert.equal((await show(refused.id)).teacher_calls.made, 0);

    await engraft(dataFolder, 'job', 'resolve', asked.id, '--charge-microusd', '1234');
    const settled = await running.client.jobs.get(asked.id);
    assert.deepEqual([settled.billing.charged_microusd, settled.billing.settled], [1234, true]);

    await server?.start();
    const again = await running.client.jobs.wait((await learn(running, entry)).id);
    assert.ok(['ready', 'rejected'].includes(again.status), again.error?.code);
    await verifyLedger();
  });
});

function sumOf(said: readonly SaidUsage[]) {
  const sum = (of: (usage: SaidUsage) => number): number => said.reduce((total, usage) => total + of(usage), 0);
  return {
    input_tokens: sum(({ prompt_tokens }) => prompt_tokens),
    output_tokens: sum(({ completion_tokens }) => completion_tokens),
    cached_input_tokens: sum(({ prompt_tokens_details }) => prompt_tokens_details?.cached_tokens ?? 0),
  };
}
