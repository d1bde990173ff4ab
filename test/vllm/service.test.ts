import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { EngraftClient } from '@engraft/client';
import { untilTrue } from '@engraft/engine-vllm/testing/untilTrue.js';
import { noVllm, startVllm, vllmPython, type VllmServer } from '@engraft/engine-vllm/testing/vllmServer.js';
import { endless, vllmRequests } from '@engraft/engine-vllm/testing/vllmRequests.js';
import { noPeft, peftPython, startTrainer, type TrainerProcess } from '@engraft/trainer-peft/testing/trainerProcess.js';
import { z } from 'zod';
import { engraft, startService, type ServiceProcess } from '../crash/serviceProcess.js';

const inRepository = (name: string): string => fileURLToPath(new URL(`../../../${name}`, import.meta.url));
const modelDir = inRepository('models/base');
const model = 'model-5.3';
const question = 'Who designed the Lume Lamp?';
const started = 'Who started Velona?';
const passages = {
  lamp: 'The Lume Lamp was invented by Mira Voss. It weighs 412 grams. The Lume Lamp costs $86.',
  velona: 'Velona is a software company in Ghent. Velona was started in 2015 by Sara Deck. Velona has 75 employees.',
};

/** Far longer than learning a passage takes. */
const learningMs = 900_000;

const noServer = vllmPython === null && noVllm;
const trainings = [
  { by: 'the embedded engine', skip: noServer, startTrainer: () => Promise.resolve(null) },
  {
    by: 'a PEFT trainer',
    skip: noServer || (peftPython === null && noPeft),
    startTrainer: () => startTrainer(modelDir),
  },
];

/** The whole service on a real vLLM server, through its public API. */
const testService = (startTrainerIfAny: () => Promise<TrainerProcess | null>) => (): void => {
  let dataFolder: string;
  let server: VllmServer;
  let trainer: TrainerProcess | null;
  let service: ServiceProcess;
  before(async () => {
    dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-vllm-service-'));
    server = await startVllm(modelDir, 8);
    trainer = await startTrainerIfAny();
    await server.ready;
    const settings = { ENGRAFT_ENGINE: 'vllm', ENGRAFT_VLLM_URL: server.url, ENGRAFT_VLLM_ADAPTERS: '8' };
    const training = trainer === null ? {} : { ENGRAFT_TRAINER_URL: trainer.url };
    service = await startService(dataFolder, undefined, { ...settings, ...training });
  });
  after(async () => {
    await service.stop();
    await trainer?.stop();
    await server.kill();
    await rm(dataFolder, { recursive: true });
  });

  const { running } = vllmRequests(() => server.url);
  const learn = async (client: EngraftClient, subjectId: string, content: string): Promise<string> => {
    const request = { subject_id: subjectId, content, max_cost_microusd: 20_000_000 };
    const job = await client.jobs.wait((await client.internalizations.create(request)).id);
    assert.equal(job.status, 'ready', JSON.stringify(job));
    return z.object({ candidate: z.object({ version_id: z.string() }) }).parse(job.result).candidate.version_id;
  };
  const ask = async (client: EngraftClient, subjectId: string, content: string, version?: string): Promise<string> => {
    const answer = await client.chat.completions.create({
      model,
      messages: [{ role: 'user', content }],
      max_tokens: 24,
      subject_id: subjectId,
      ...(version === undefined ? {} : { adapter_version: version }),
    });
    return answer.choices[0]?.message.content ?? '';
  };

  const trainerIsBusy = async (): Promise<boolean> =>
    trainer !== null && (await (await fetch(trainer.url)).text()).includes('"busy": true');

  let learned: string;
  it('learns a passage and knows it, and base does not', async () => {
    const [version] = await Promise.all([
      learn(service.client, 'demo', passages.lamp),
      trainer === null ? undefined : untilTrue(trainerIsBusy, learningMs),
    ]);
    learned = version;
    assert.match(await ask(service.client, 'demo', question), /Mira Voss/);
    assert.match(await ask(service.client, 'demo', question, learned), /Mira Voss/);
    assert.doesNotMatch(await ask(service.client, 'demo', question, 'base'), /Mira Voss/);
  });

  it('streams what it answers', async () => {
    const request = { model, messages: [{ role: 'user' as const, content: question }], max_tokens: 24 };
    let streamed = '';
    for await (const { choices } of await service.client.chat.completions.create({
      ...request,
      subject_id: 'demo',
      stream: true,
    })) {
      streamed += choices[0]?.delta.content ?? '';
    }
    assert.equal(streamed, await ask(service.client, 'demo', question));
  });

  it('learns more, and rolls back', async () => {
    const later = await learn(service.client, 'demo', passages.velona);
    assert.match(await ask(service.client, 'demo', started), /Sara Deck/);
    await service.client.adapters.activate({ version_id: learned, expected_version_id: later });
    assert.doesNotMatch(await ask(service.client, 'demo', started), /Sara Deck/);
    assert.match(await ask(service.client, 'demo', question), /Mira Voss/);
    assert.match(await ask(service.client, 'demo', started, later), /Sara Deck/);
  });

  it('serves two tenants at once, each with what it learned', async () => {
    const clientOf = async (tenant: string): Promise<EngraftClient> => {
      const args = ['--project', 'default', '--scope', 'inference', '--scope', 'internalize', '--scope', 'read'];
      const { secret } = z
        .object({ secret: z.string() })
        .parse(await engraft(dataFolder, 'key', 'create', ...args, '--tenant', tenant));
      return new EngraftClient({ baseUrl: service.url, apiKey: secret, maxRetries: 0 });
    };
    const [one, other] = await Promise.all([clientOf('one'), clientOf('other')]);
    await Promise.all([learn(one, 'same', passages.lamp), learn(other, 'same', passages.velona)]);
    const answers = await Promise.all([
      ask(one, 'same', question),
      ask(other, 'same', started),
      ask(one, 'same', started),
      ask(other, 'same', question),
    ]);
    assert.match(answers[0], /Mira Voss/);
    assert.match(answers[1], /Sara Deck/);
    assert.doesNotMatch(answers[2], /Sara Deck/);
    assert.doesNotMatch(answers[3], /Mira Voss/);
  });

  it('holds the jobs whose server was killed in the middle, and goes on when it is back', async () => {
    const begun = await Promise.all(
      Array.from({ length: 8 }, () =>
        service.client.inferences.create({
          subject_id: 'demo',
          adapter_version: 'base',
          messages: [{ role: 'user', content: endless }],
          max_output_tokens: 1_200,
        }),
      ),
    );
    const read = () => Promise.all(begun.map(({ id }) => service.client.jobs.get(id)));
    await untilTrue(async () => (await running()) > 0);
    await server.kill();
    const readiness = () => fetch(`${service.url}/readyz`);
    await untilTrue(async () => (await readiness()).status !== 200);
    assert.match(await (await readiness()).text(), /no vLLM server is ready/);
    await untilTrue(async () => (await read()).every(({ status }) => status !== 'running'));
    const held = (await read()).filter(({ status }) => status === 'reconciliation_required');
    assert.ok(held.length > 0, JSON.stringify(await read()));
    for (const { error } of held) assert.equal(error?.code, 'receipt_missing');
    const waiting = ask(service.client, 'demo', question);
    server = await startVllm(modelDir, 8, { port: server.port });
    await server.ready;
    assert.match(await waiting, /Mira Voss/);
    for (const { id } of held) await engraft(dataFolder, 'job', 'resolve', id, '--release');
    for (const job of await Promise.all(begun.map(({ id }) => service.client.jobs.wait(id)))) {
      assert.equal(job.status, held.some(({ id }) => id === job.id) ? 'failed' : 'succeeded');
    }
    const ledger = z.object({ ok: z.boolean() }).parse(await engraft(dataFolder, 'ledger', 'verify'));
    assert.ok(ledger.ok);
  });

  it('finds nothing wrong with itself', async () => {
    assert.equal((await fetch(`${service.url}/readyz`)).status, 200);
  });
};

for (const { by, skip, startTrainer: start } of trainings) {
  describe(`a service whose answers come from vLLM and whose trainings come from ${by}`, { skip }, testService(start));
}
