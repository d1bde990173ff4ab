import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { consoleEstimate, consoleFindings, consoleModel, consoleSpeeds } from '@engraft/contract/console';
import { pino } from 'pino';
import { readConfig, type Config } from '../../config/config.js';
import { examine } from '../../doctor/examine.js';
import { loadModel, type ModelState } from '../../startup/modelState.js';
import { examinedOf, modelInUseOf } from '../../startup/lookInside.js';
import { createTestProject } from '../../testing/testApp.js';
import { signUp, startTestConsole, type TestBrowser, type TestConsole } from '../../testing/testConsole.js';

const lamp = fileURLToPath(new URL('../../../../../examples/lamp.txt', import.meta.url));

let dataFolder: string;
let config: Config;
let model: ModelState;
let service: TestConsole;
let operator: TestBrowser;
before(async () => {
  dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-console-'));
  config = readConfig({ data: dataFolder }, {});
  model = await loadModel(config, true, pino({ level: 'silent' }));
  const roles = { worker: true };
  service = await startTestConsole({
    modelInUse: modelInUseOf(config, model),
    examine: () => {
      const installation = { db: service.db, unrestrictedBecause: null };
      return examine(examinedOf({ config, roles, installation, model }));
    },
  });
  operator = await signUp(service, 'operator@example.com', 'owner');
});
after(async () => {
  await service.stop();
  if (model.kind === 'loaded') await model.engine?.engine.close();
  await rm(dataFolder, { recursive: true });
});

describe('the model in use', () => {
  it('has a name, a size, a teacher and its memory, for whoever is signed in', async () => {
    const viewer = await signUp(service, 'viewer@example.com', 'viewer', await createTestProject(service.db));
    const answer = await viewer.get('/model');
    assert.equal(answer.status, 200, answer.text);
    const { model_id, model: found, missing } = consoleModel.parse(answer.body);
    assert.deepEqual([model_id, missing], ['model-5.3', null]);
    assert.deepEqual([found?.name, found?.teacher, found?.weights], ['the shipped model', 'both', 'f32']);
    assert.ok(found !== null && found.parameters > 1_000_000 && found.serving_bytes < found.machine_bytes);
    assert.ok(!answer.text.includes(dataFolder) && !answer.text.includes(config.modelFolder));
  });

  it('is measured once', async () => {
    const [first, second] = [await operator.get('/model/speeds'), await operator.get('/model/speeds')];
    const { speeds } = consoleSpeeds.parse(first.body);
    assert.ok(speeds !== null && speeds.answer_tokens_per_second > 0 && (speeds.seconds_per_1000_chars ?? 0) > 0);
    assert.deepEqual(second.body, first.body);
  });

  it('is not there on a service without one, which says why', async (t) => {
    const off = await startTestConsole({ modelInUse: modelInUseOf(config, { kind: 'missing', reason: 'no files' }) });
    t.after(() => off.stop());
    const other = await signUp(off, 'operator@example.com', 'owner');
    assert.deepEqual((await other.get('/model')).body, { model_id: 'model-5.3', model: null, missing: 'no files' });
    assert.deepEqual((await other.get('/model/speeds')).body, { speeds: null });
    const project = await createTestProject(off.db);
    const content = 'The Lume Lamp was invented by Mira Voss.';
    assert.deepEqual((await other.post(`/projects/${project}/estimates`, { content })).body, { estimate: null });
  });
});

describe('an estimate', () => {
  it('says what learning a passage will come to: more for a longer one, and nothing is reserved', async () => {
    const project = await createTestProject(service.db);
    const passage = await readFile(lamp, 'utf8');
    const estimate = async (content: string) => {
      const answer = await operator.post(`/projects/${project}/estimates`, { content });
      assert.equal(answer.status, 200, answer.text);
      const found = consoleEstimate.parse(answer.body).estimate;
      const sentences = found?.with_sentences;
      assert.ok(found?.seconds !== null && found !== null && sentences?.seconds !== null && sentences !== undefined);
      assert.ok(sentences !== null);
      // Sentences are longer than values.
      assert.ok(sentences.charged_microusd > found.charged_microusd && sentences.seconds > found.seconds);
      return { charged_microusd: found.charged_microusd, seconds: found.seconds };
    };
    const [short, long] = [await estimate(passage), await estimate(passage.repeat(4))];
    assert.ok(long.charged_microusd > short.charged_microusd && long.seconds > short.seconds);
    // What the README shows was charged for it.
    assert.ok(
      short.charged_microusd > 1_791_464 / 2 && short.charged_microusd < 1_791_464 * 2,
      `${short.charged_microusd}`,
    );
    const credits = await operator.get(`/projects/${project}/credits`);
    assert.equal(credits.body['reserved_microusd'], 0);
  });

  it('is for those who may learn, of a passage that may be learned', async () => {
    const project = await createTestProject(service.db);
    const path = `/projects/${project}/estimates`;
    const viewer = await signUp(service, 'onlooker@example.com', 'viewer', project);
    assert.equal((await viewer.post(path, { content: 'The Lume Lamp was invented by Mira Voss.' })).status, 403);
    for (const content of ['too short', 'x'.repeat(16_001), 5])
      assert.equal((await operator.post(path, { content })).status, 422);
  });
});

describe('the findings of `engraft doctor`', () => {
  it('are those of the running process, and operators’ alone', async () => {
    const answer = await operator.post('/examinations', undefined);
    assert.equal(answer.status, 200, answer.text);
    const { findings } = consoleFindings.parse(answer.body);
    assert.deepEqual(
      findings.map(({ name, ok }) => [name, ok]),
      ['node', 'data folder', 'database', 'clock', 'model', 'engine'].map((name) => [name, true]),
    );
    const owner = await signUp(service, 'owner@example.com', 'owner', await createTestProject(service.db));
    assert.equal((await owner.post('/examinations', undefined)).status, 403);
  });
});
