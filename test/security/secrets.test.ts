import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestKey, createTestProject, type TestKey } from '@engraft/service/testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '@engraft/service/testing/testDatabase.js';

const root = path.resolve(import.meta.dirname, '../../..');

/** Each is a text that stands nowhere else. */
const secrets = {
  teacher_key: 'sk-teacher-4f1c9b',
  token: 'hf_9d2e7ac1',
  passage: 'Qworvix Telmarand',
  message: 'Zumbrel Oskanthe',
  answer: 'Vlimbrok Usterpan',
};

let database: TestDatabase;
let key: TestKey;
let dataFolder: string;
let teacher: Server;
before(async () => {
  database = await openTestDatabase();
  key = await createTestKey(database.db, await createTestProject(database.db));
  dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-secrets-'));
  // Fails in every way that quotes what it was asked, so that the error is described.
  teacher = createServer((request, response) => {
    void (async () => {
      let asked = '';
      for await (const chunk of request) asked += String(chunk);
      const said = `${request.headers.authorization} ${asked} ${secrets.answer}`;
      response.writeHead(400, { 'content-type': 'text/plain' }).end(said);
    })();
  }).listen(0, '127.0.0.1');
  await once(teacher, 'listening');
});
after(async () => {
  teacher.close();
  await database.close();
  await rm(dataFolder, { recursive: true });
});

/** The command line and the name of every process of this machine, where the system shows them. */
async function processTitles(): Promise<string> {
  const ids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const read = (id: string, file: string) => readFile(`/proc/${id}/${file}`, 'utf8').catch(() => '');
  const titles = await Promise.all(ids.flatMap((id) => [read(id, 'cmdline'), read(id, 'comm')]));
  return titles.join('\n');
}

test('a service at its most talkative shows no secret, passage, message or answer: not in its log or output, and in no process title', async () => {
  const { port } = teacher.address() as AddressInfo;
  const env = {
    PATH: process.env['PATH'],
    DATABASE_URL: database.url,
    ENGRAFT_DATA_DIR: dataFolder,
    ENGRAFT_LOG_LEVEL: 'trace',
    ENGRAFT_TEACHER_URL: `http://127.0.0.1:${port}/v1`,
    ENGRAFT_TEACHER_MODEL: 'large',
    ENGRAFT_TEACHER_API_KEY: secrets.teacher_key,
    ENGRAFT_STRIPE_SECRET_KEY: secrets.token,
    ENGRAFT_STRIPE_WEBHOOK_SECRET: secrets.token,
    HF_TOKEN: secrets.token,
  };
  const program = path.join(root, 'packages/service/bin/engraft.js');
  const service = spawn(process.execPath, [program, 'serve', '--port', '0'], { env });
  const ended = once(service, 'close');
  let [output, log] = ['', ''];
  service.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  service.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  try {
    const until = async (isDone: () => boolean | Promise<boolean>): Promise<void> => {
      for (let waited = 0; !(await isDone()); waited += 1) {
        assert.ok(waited < 1_200 && service.exitCode === null, log);
        await sleep(100);
      }
    };
    await until(() => output.includes('listening on'));
    const url = /http:\S+/.exec(output)?.[0] ?? '';
    const post = (target: string, body: string, authorization = key.authorization) =>
      fetch(`${url}${target}`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json', 'idempotency-key': `secrets-${body.length}` },
        body,
      });
    const question = { subject_id: 's', messages: [{ role: 'user', content: secrets.message }], max_output_tokens: 4 };
    const content = `${secrets.passage} lives in Ghent. ${secrets.passage} was born in 1990 and has 75 sheep.`;
    const learning = { subject_id: 's', content, max_cost_microusd: 2_000_000 };
    const answers = [
      await post('/v1/inferences', JSON.stringify(question)),
      await post('/v1/internalizations', JSON.stringify(learning)),
      await post('/v1/inferences', JSON.stringify({ ...question, messages: secrets.message })),
      await post('/v1/inferences', `{"subject_id": "${secrets.message}`),
      await post(`/v1/${encodeURIComponent(secrets.message)}?q=${encodeURIComponent(secrets.passage)}`, '{}'),
      await post('/v1/inferences', JSON.stringify(question), `Bearer ${secrets.token}`),
    ];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [202, 202, 422, 422, 404, 401],
    );
    const shown = (await Promise.all(answers.map((answer) => answer.text()))).join('\n');
    await until(async () => {
      const jobs = await database.db.selectFrom('jobs').select('status').execute();
      return jobs.length === 2 && jobs.every(({ status }) => status !== 'queued' && status !== 'running');
    });
    const titles = await processTitles();
    service.kill('SIGTERM');
    await ended;
    assert.match(log, /"level":\d+.*"msg"/);
    const hidden = [...Object.values(secrets), key.secret];
    for (const secret of hidden) {
      for (const [where, text] of Object.entries({ output, log, titles, shown })) {
        assert.equal(text.includes(secret), false, `${secret} stands in ${where}`);
      }
    }
  } finally {
    service.kill('SIGKILL');
    await ended;
  }
});
