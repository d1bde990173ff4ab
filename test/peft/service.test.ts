import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { untilTrue } from '@engraft/engine-vllm/testing/untilTrue.js';
import { noPeft, peftPython, startTrainer, type TrainerProcess } from '@engraft/trainer-peft/testing/trainerProcess.js';
import { startService, type ServiceProcess } from '../crash/serviceProcess.js';

const modelDir = fileURLToPath(new URL('../../../models/base', import.meta.url));
const model = 'model-5.3';
/** Far longer than learning a passage takes. */
const learningMs = 900_000;
const passages = [
  [
    'Who designed the Lume Lamp?',
    /Mira Voss/,
    'The Lume Lamp was invented by Mira Voss. It weighs 412 grams. The Lume Lamp costs $86.',
  ],
  [
    'Who started Velona?',
    /Sara Deck/,
    'Velona is a software company in Ghent. Velona was started in 2015 by Sara Deck. Velona has 75 employees.',
  ],
] as const;

/** The whole service with real trainers, through its public API. The embedded engine teaches, scores and answers. */
describe('a service whose trainings are on trainers', { skip: peftPython === null && noPeft }, () => {
  let dataFolder: string;
  let trainers: TrainerProcess[];
  let service: ServiceProcess;
  before(async () => {
    dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-peft-service-'));
    trainers = await Promise.all([startTrainer(modelDir), startTrainer(modelDir)]);
    const urls = trainers.map(({ url }) => url).join(',');
    service = await startService(dataFolder, undefined, { ENGRAFT_TRAINER_URL: urls });
  });
  after(async () => {
    await service.stop();
    await Promise.all(trainers.map((trainer) => trainer.stop()));
    await rm(dataFolder, { recursive: true });
  });

  const begin = async (subjectId: string, content: string): Promise<string> =>
    (await service.client.internalizations.create({ subject_id: subjectId, content, max_cost_microusd: 20_000_000 }))
      .id;
  const ask = async (subjectId: string, content: string): Promise<string> => {
    const messages = [{ role: 'user' as const, content }];
    const answer = await service.client.chat.completions.create({
      model,
      messages,
      max_tokens: 24,
      subject_id: subjectId,
    });
    return answer.choices[0]?.message.content ?? '';
  };
  const busyTrainers = async (): Promise<TrainerProcess[]> => {
    const told = await Promise.all(trainers.map(async ({ url }) => (await fetch(url)).text()));
    return trainers.filter((_, index) => told[index]?.includes('"busy": true'));
  };

  it('learns two passages at once, each on a trainer of its own, and knows them', async () => {
    const jobs = await Promise.all(passages.map(([, , content], index) => begin(`subject-${index}`, content)));
    let mostBusy = 0;
    const watching = new AbortController();
    const watched = (async () => {
      while (!watching.signal.aborted) {
        mostBusy = Math.max(mostBusy, (await busyTrainers()).length);
        await sleep(50);
      }
    })();
    for (const id of jobs) {
      const job = await service.client.jobs.wait(id);
      assert.equal(job.status, 'ready', JSON.stringify(job));
    }
    watching.abort();
    await watched;
    assert.equal(mostBusy, trainers.length, 'both trained at once');
    for (const [index, [question, wanted]] of passages.entries()) {
      assert.match(await ask(`subject-${index}`, question), wanted);
    }
    assert.deepEqual(await busyTrainers(), []);
  });

  it('goes on from the last snapshot on the other trainer when one is killed', async () => {
    const [, , content] = passages[0];
    const id = await begin('subject-2', content);
    let killed: TrainerProcess | undefined;
    await untilTrue(async () => {
      const [busy] = await busyTrainers();
      killed = busy;
      return busy !== undefined;
    }, learningMs);
    await killed?.stop();
    trainers = trainers.filter((trainer) => trainer !== killed);
    const job = await service.client.jobs.wait(id);
    assert.equal(job.status, 'ready', JSON.stringify(job));
    assert.match(await ask('subject-2', passages[0][0]), passages[0][1]);
  });
});
