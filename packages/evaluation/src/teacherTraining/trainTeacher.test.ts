import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startEngineHost, type EngineHost } from '@engraft/engine';
import { plainPrompts } from '@engraft/learning';
import type { Paragraph } from '../squad/paragraphs.js';
import { measureReading } from './measureTeacher.js';
import { splitByTitle } from './split.js';
import { trainTeacher, type TeacherProgress, type TeacherTraining } from './trainTeacher.js';

const modelDir = fileURLToPath(new URL('../../../../models/base', import.meta.url));
const paragraphs: readonly Paragraph[] = ['Varn', 'Orla', 'Tess', 'Brin'].map((name, index) => ({
  title: name,
  context: `The tower of ${name} was built in ${1850 + index} by Ada ${name}son. It is ${30 + index} metres high.`,
  questions: [
    { question: `When was the tower of ${name} built?`, answers: [String(1850 + index)] },
    { question: `Who built the tower of ${name}?`, answers: [`Ada ${name}son`] },
    { question: `How high is the tower of ${name}?`, answers: [`${30 + index} metres`] },
  ],
}));

let engine: EngineHost;
let folder: string;
before(async () => {
  engine = await startEngineHost({ modelDir, threads: 1 });
  folder = await mkdtemp(join(tmpdir(), 'engraft-teacher-'));
});
after(async () => {
  await engine.close();
  await rm(folder, { recursive: true });
});

function training(name: string, given: Partial<TeacherTraining> = {}): TeacherTraining {
  return {
    engine,
    paragraphs,
    prompts: plainPrompts,
    folder: join(folder, name),
    steps: 6,
    seed: 3,
    snapshotSteps: 2,
    ...given,
  };
}

test('a training that was stopped goes on with the same numbers, and one with another seed begins anew', async () => {
  const whole = await trainTeacher(training('whole'));
  const stopping = new AbortController();
  const steps: number[] = [];
  const onStep = ({ done }: { readonly done: number }): void => {
    steps.push(done);
    if (done === 3) stopping.abort();
  };
  await assert.rejects(trainTeacher(training('parts', { signal: stopping.signal, onStep })), { code: 'cancelled' });
  const resumed = await trainTeacher(training('parts', { onStep: ({ done }) => steps.push(done) }));
  assert.deepEqual(steps, [1, 2, 3, 3, 4, 5, 6]);
  assert.equal(resumed.contentHash, whole.contentHash);
  assert.deepEqual((await readdir(join(folder, 'parts'))).sort(), ['adapter', 'progress.json', 'snapshot-6']);
  const config = await readFile(join(folder, 'parts', 'adapter', 'adapter_config.json'), 'utf8');
  assert.match(config, /"r": 64\b/, 'as for a small model');

  const answers = paragraphs.map((one) => ({
    ...one,
    questions: one.questions.map((q) => ({ ...q, answers: ['Ada'] })),
  }));
  const changed: number[] = [];
  await trainTeacher(training('parts', { paragraphs: answers, steps: 2, onStep: ({ done }) => changed.push(done) }));
  assert.equal(changed[0], 1, 'other answers are other data');
  await writeFile(join(folder, 'parts', 'progress.json'), '');
  const torn: number[] = [];
  await trainTeacher(training('parts', { steps: 2, onStep: ({ done }) => torn.push(done) }));
  assert.deepEqual(torn, [1, 2], 'a torn file is no progress');

  const anew: number[] = [];
  const other = await trainTeacher(training('parts', { seed: 4, onStep: ({ done }) => anew.push(done) }));
  assert.equal(anew[0], 1);
  assert.notEqual(other.contentHash, whole.contentHash);
});

test('a training from an adapter begins with what that can do, and goes on from no other', async () => {
  const stepsOf = async (given: Partial<TeacherTraining>, stopAfter = Infinity): Promise<TeacherProgress[]> => {
    const stopping = new AbortController();
    const seen: TeacherProgress[] = [];
    const onStep = (progress: TeacherProgress): void => {
      seen.push(progress);
      if (progress.done === stopAfter) stopping.abort();
    };
    const run = trainTeacher(training('child', { ...given, steps: 4, onStep, signal: stopping.signal }));
    if (stopAfter === Infinity) await run;
    else await assert.rejects(run, { code: 'cancelled' });
    return seen;
  };
  const parent = await trainTeacher(training('parent', { seed: 5, steps: 12 }));
  const [fromNothing] = await stepsOf({ parent: null });
  const first = await stepsOf({ parent }, 2);
  assert.deepEqual([fromNothing?.done, first[0]?.done], [1, 1]);
  // The same rows in the same order: only what the training began from differs.
  assert.ok(first[0]!.loss < 0.9 * fromNothing!.loss, `${fromNothing!.loss} from nothing, ${first[0]!.loss}`);

  const goneOn = await stepsOf({ parent }, 3);
  assert.deepEqual(
    goneOn.map(({ done }) => done),
    [3],
    'with the same parent it goes on',
  );
  const other = await trainTeacher(training('other parent', { seed: 6, steps: 1 }));
  const anew = await stepsOf({ parent: other }, 1);
  assert.deepEqual(
    anew.map(({ done }) => done),
    [1],
    'with another one it begins anew',
  );
});

test('reading is measured with and without the adapter, on titles that are kept apart', async () => {
  const { training: rest, heldOut } = splitByTitle(
    Array.from({ length: 200 }, (_, index) => ({ ...paragraphs[0]!, title: `title ${index}` })),
  );
  assert.equal(rest.length + heldOut.length, 200);
  assert.ok(heldOut.length > 2 && heldOut.length < 25, String(heldOut.length));
  const adapter = { folder: join(folder, 'whole', 'adapter'), contentHash: '' };
  await assert.rejects(measureReading(engine, heldOut, adapter, { prompts: plainPrompts, count: 1 }), {
    code: 'adapter_damaged',
  });
  const figures = await measureReading(engine, heldOut, null, { prompts: plainPrompts, count: 3 });
  assert.equal(figures.total, 3);
  assert.ok(figures.exact <= figures.contained && figures.contained <= 3);
  const long = heldOut.map((paragraph) => ({ ...paragraph, context: paragraph.context.repeat(400) }));
  const unread = await measureReading(engine, [...long, ...heldOut], null, { prompts: plainPrompts, count: 4 });
  assert.equal(unread.total, 2, 'two of the four do not fit into the context');
});
