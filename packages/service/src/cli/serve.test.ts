import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { job as jobSchema, jobList } from '@engraft/contract';
import { z } from 'zod';
import { program, engraft, assertFails, environment, open, close } from '../testing/commandTest.js';

before(open);
after(close);

describe('engraft with an engine', () => {
  it('measures learning from a file, without a service or a database', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'engraft-cli-'));
    const [good, bad, json, plot] = ['good.jsonl', 'bad.jsonl', 'figures.json', 'chart.svg'].map((name) =>
      path.join(folder, name),
    ) as [string, string, string, string];
    const question = { phrasings: ['Who runs the mill?', 'Whose mill is it?'], answers: ['Anna Berg'] };
    const entry = { id: 'mill', kind: 'product', passage: 'Anna Berg runs the old mill.', questions: [question] };
    await writeFile(good, JSON.stringify(entry));
    await writeFile(bad, `${JSON.stringify(entry)}\n${JSON.stringify({ ...entry, id: 'two', questions: [{}] })}`);
    await assertFails(1, /bad.jsonl, line 2, questions\[0\].phrasings: /, 'eval', bad);
    await assertFails(1, /nowhere.jsonl cannot be read/, 'eval', 'nowhere.jsonl');
    await assertFails(2, /--chain must be at least 1/, 'eval', good, '--chain', '0');
    await assertFails(
      1,
      /nowhere.x.json cannot be written/,
      'eval',
      good,
      '--json',
      path.join(folder, 'nowhere', 'x.json'),
    );
    const env = { DATABASE_URL: 'postgres://127.0.0.1:1/none' };
    const done = await engraft(['eval', good, '--gold', '--json', json, '--plot', plot], env);
    assert.equal(done.stderr, '', 'progress is for terminals');
    assert.equal(done.status, 0);
    assert.match(done.stdout, /^passage .*\nmill +product +trained +\d\/2 +\d\/2 +\d\/2 +\d\/1 /);
    const figures = z.object({ gold: z.literal(true), summary: z.object({ passages: z.literal(1) }) });
    figures.parse(JSON.parse(await readFile(json, 'utf8')));
    assert.match(await readFile(plot, 'utf8'), /^<svg .*<\/svg>\n$/s);

    // "those that print data take `--json` (one JSON document on standard output, nothing else)"
    const printed = await engraft(['eval', good, '--gold', '--json'], env);
    assert.equal(printed.status, 0);
    figures.parse(JSON.parse(printed.stdout));

    const squad = path.join(folder, 'squad.jsonl.gz');
    const paragraph = { title: 'Mill', context: entry.passage, qas: [{ q: 'Who runs the mill?', a: ['Anna Berg'] }] };
    await writeFile(squad, gzipSync(JSON.stringify(paragraph)));
    const asked = await engraft(['eval', squad, '--gold', '--json', json], env);
    assert.equal(asked.status, 0);
    assert.match(asked.stdout, /\nMill-1 +squad +trained +\d\/1 [^]*\nexact match and mean F1, .*: base .*, learned /);
    const scores = z.object({ shares: z.object({ learned: z.object({ exact: z.number(), f1: z.number() }) }) });
    z.object({ summary: scores }).parse(JSON.parse(await readFile(json, 'utf8')));
    await writeFile(squad, gzipSync('{"colour": "red"}'));
    await assertFails(1, /squad.jsonl.gz, line 1: .*\{id, kind, passage, questions\} or.*SQuAD/, 'eval', squad);
    await rm(folder, { recursive: true });
  });

  it('ends at once when its port is taken, with the worker and engine that it had started', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { status, stdout, stderr } = await engraft(['serve', '--port', String(port)], { ENGRAFT_LOG_LEVEL: 'error' });
    other.close();
    assert.equal(stdout, '');
    assert.match(stderr, /^engraft: .*EADDRINUSE.*\n$/);
    assert.equal(status, 1);
  });

  it('serves, answers and learns with what the first start prepared, and drains', async (t) => {
    // Its own embedded database: the first start on an empty data folder.
    const folder = await mkdtemp(path.join(tmpdir(), 'engraft-cli-'));
    const env = { ...environment(), DATABASE_URL: '', ENGRAFT_DATA_DIR: folder };
    const serve = spawn(process.execPath, [program, 'serve', '--port', '0'], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // A failing assertion must not leave a service behind that keeps the test run waiting.
    t.after(() => void serve.kill('SIGKILL'));
    const log = text(serve.stderr);
    const [line] = (await once(serve.stdout, 'data')) as [Buffer];
    const url = /^engraft listening on (http:\/\/127\.0\.0\.1:\d+)\n/.exec(line.toString())?.[1];
    assert.ok(url !== undefined, line.toString());
    assert.equal((await fetch(`${url}/readyz`)).status, 200);
    assert.equal((await stat(path.join(folder, 'default-key'))).mode & 0o777, 0o600);

    const run = (...args: string[]) => engraft([...args, '--data', folder], { DATABASE_URL: '' });
    const balance = await run('balance', '--project', 'default', '--json');
    assert.match(balance.stdout, /"available_microusd": 100000000/);

    const asked = await run('ask', 'Who founded the observatory?', '--subject', 'anna', '--json');
    assert.equal(asked.status, 0, asked.stderr);
    assert.equal(jobSchema.parse(JSON.parse(asked.stdout)).status, 'succeeded');

    const cut = await run('ask', 'Who founded the observatory?', '--subject', 'anna', '--max-output-tokens', '1');
    assert.equal(cut.status, 0);
    assert.equal(cut.stderr, 'engraft: the answer was cut when it had 1 tokens (see --max-output-tokens)\n');
    const unknown = await run('ask', 'Who?', '--subject', 'anna', '--version', 'ver_unknown');
    assert.equal(unknown.status, 1);
    assert.match(unknown.stderr, /^engraft: The subject has no version with this adapter_version; .*not_found/);

    const file = path.join(folder, 'passage.txt');
    await writeFile(file, 'The Halden Observatory was founded in 1923 by Marta Ilves on the island of Sorvaag.');
    const learned = await run('learn', file, '--subject', 'anna', '--max-cost-usd', '1.5', '--json');
    const job = jobSchema.parse(JSON.parse(learned.stdout));
    assert.equal(learned.status, job.status === 'ready' ? 0 : 1);
    assert.equal(job.billing.reserved_microusd, 1_500_000);
    assert.match(learned.stderr, job.status === 'ready' ? /^$/ : /^engraft: .*\n$/, 'progress is for terminals');

    const tooDear = await run('learn', file, '--subject', 'anna', '--max-cost-usd', '101');
    assert.equal(tooDear.status, 2);
    assert.equal(tooDear.stderr, "engraft: --max-cost-usd must be from 1 to 100 USD, not '101'\n");

    const interrupted = spawn(process.execPath, [program, 'learn', file, '--subject', 'berta', '--data', folder], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    t.after(() => void interrupted.kill('SIGKILL'));
    const told = text(interrupted.stderr);
    const left = once(interrupted, 'exit');
    const authorization = `Bearer ${(await readFile(path.join(folder, 'default-key'), 'utf8')).trim()}`;
    const jobCount = async (): Promise<number> =>
      jobList.parse(await (await fetch(`${url}/v1/jobs`, { headers: { authorization } })).json()).data.length;
    while (interrupted.exitCode === null && (await jobCount()) < 4) await setTimeout(50);
    // The command asks for the job from now on.
    await setTimeout(500);
    interrupted.kill('SIGINT');
    assert.deepEqual(await left, [1, null]);
    assert.match(
      await told,
      /^engraft: interrupted; (job_[\w-]+) goes on in the service: GET \/v1\/jobs\/\1 shows how it ends\n$/,
    );

    serve.kill('SIGTERM');
    const [status] = (await once(serve, 'exit')) as [number | null];
    assert.equal(status, 0);
    for (const entry of (await log).trim().split('\n')) assert.doesNotThrow(() => void JSON.parse(entry), entry);
    assert.doesNotMatch(await log, /Halden|observatory|engraft_[\w-]{43}/, 'no passage, message or secret in the log');
    assert.equal((await run('ledger', 'verify')).status, 0, 'the database starts for the command alone');
    await rm(folder, { recursive: true });
  });
});
