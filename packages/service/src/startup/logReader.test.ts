import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, existsSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';

const program = fileURLToPath(new URL('../../bin/engraft.js', import.meta.url));
/** So long that only a service that has stopped working is late. */
const patienceMs = 30_000;
/** Node.js cannot create a named pipe. Debian and macOS have this program for it, whatever `PATH` says. */
const mkfifo = '/usr/bin/mkfifo';

interface Line {
  readonly msg: string;
  readonly dropped_lines?: number;
}

describe('whoever reads the log of a service', { skip: existsSync(mkfifo) ? false : `${mkfifo} is missing` }, () => {
  let database: TestDatabase;
  let folder: string;
  before(async () => {
    database = await openTestDatabase();
    folder = await mkdtemp(path.join(tmpdir(), 'engraft-log-'));
  });
  after(async () => {
    await database.close();
    await rm(folder, { recursive: true });
  });

  let pipes = 0;
  /** A pipe that nobody reads until told to: `spawn` would read some of its own. */
  function openPipe(): { readonly fd: number; read(): Promise<Line[]> } {
    pipes += 1;
    const file = path.join(folder, `pipe-${pipes}`);
    assert.equal(spawnSync(mkfifo, [file]).status, 0);
    const readFd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const fd = openSync(file, constants.O_WRONLY);
    return { fd, read: () => readLines(new Socket({ fd: readFd, writable: false })) };
  }

  async function serve(t: TestContext, stderr: 'pipe' | number) {
    const child = spawn(process.execPath, [program, 'serve', '--port', '0'], {
      env: {
        PATH: process.env['PATH'],
        DATABASE_URL: database.url,
        ENGRAFT_DATA_DIR: folder,
        ENGRAFT_ENGINE: 'off',
        ENGRAFT_LOG_LEVEL: 'info',
      },
      stdio: ['ignore', 'pipe', stderr],
    });
    t.after(() => void child.kill('SIGKILL'));
    if (typeof stderr === 'number') closeSync(stderr);
    assert.ok(child.stdout !== null);
    const [said] = (await once(child.stdout, 'data')) as [Buffer];
    const url = /^engraft listening on (\S+)/.exec(said.toString())?.[1] ?? '';
    await database.db.updateTable('projects').set({ requests_per_minute: 1_000_000 }).execute();
    const secret = (await readFile(path.join(folder, 'default-key'), 'utf8')).trim();
    const get = async (where: string): Promise<string> => {
      const headers = { authorization: `Bearer ${secret}` };
      const response = await fetch(url + where, { headers, signal: AbortSignal.timeout(patienceMs) });
      assert.equal(response.status, 200);
      return response.text();
    };
    /** Each writes one line of some 270 bytes. */
    const ask = async (requests: number): Promise<void> => {
      const oneAfterAnother = async (): Promise<void> => {
        for (let n = 0; n < requests / 10; n += 1) await get('/v1/models');
      };
      await Promise.all(Array.from({ length: 10 }, oneAfterAnother));
    };
    return { child, get, ask };
  }

  it('may stall: requests are answered, and what did not fit is counted and said when it reads on', async (t) => {
    const pipe = openPipe();
    const { child, get, ask } = await serve(t, pipe.fd);
    await ask(6_000);
    assert.match(await get('/healthz'), /alive/);
    const dropped = /^engraft_log_lines_dropped_total (\d+)$/m.exec(await get('/metrics'))?.[1];
    assert.ok(Number(dropped) > 0, `${dropped} lines were dropped`);

    const reading = pipe.read();
    await sleep(500);
    await ask(10);
    assert.deepEqual(await stop(child), [0, null]);
    const lines = await reading;
    const gaps = lines.filter(({ dropped_lines }) => dropped_lines !== undefined);
    const [gap] = gaps;
    assert.ok(gap !== undefined && gaps.length === 1);
    assert.equal(gap.msg, `${gap.dropped_lines} log lines were dropped: standard error was not read`);
    const requests = lines.filter(({ msg }) => msg === 'request').length;
    assert.equal(requests + (gap.dropped_lines ?? 0), 6_000 + 2 + 10);
    assert.equal(lines.at(-1)?.msg, 'stopped');
  });

  it('may never read again: SIGTERM ends the service all the same, exit 0', async (t) => {
    const pipe = openPipe();
    const { child, ask } = await serve(t, pipe.fd);
    await ask(1_000);
    assert.deepEqual(await stop(child), [0, null]);
  });

  it('may be gone, as may be who reads standard output', async (t) => {
    const { child, ask } = await serve(t, 'pipe');
    child.stdout?.destroy();
    child.stderr?.destroy();
    await ask(100);
    assert.deepEqual(await stop(child), [0, null]);
  });

  it('gets every line when it reads, whole, to the last', async (t) => {
    const { child, ask } = await serve(t, 'pipe');
    assert.ok(child.stderr !== null);
    const reading = readLines(child.stderr);
    await ask(1_000);
    assert.deepEqual(await stop(child), [0, null]);
    const said = (await reading).map(({ msg }) => msg);
    assert.equal(said.filter((msg) => msg === 'request').length, 1_000);
    assert.deepEqual(said.slice(-2), ['draining', 'stopped']);
  });

  const openLog = `import { openLog } from ${JSON.stringify(new URL('./logger.js', import.meta.url).href)};
    import { isWrittenSoon } from ${JSON.stringify(new URL('./logOutput.js', import.meta.url).href)};
    const { logger, output } = openLog({ logLevel: 'info' });`;

  /** A process that is no service, with this as its standard error. */
  function run(t: TestContext, code: string, stderr: number) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['pipe', 'pipe', stderr] });
    t.after(() => void child.kill('SIGKILL'));
    const { stdin, stdout } = child;
    assert.ok(stdin !== null && stdout !== null);
    const exited = once(child, 'exit', { signal: AbortSignal.timeout(patienceMs) });
    return { exited, isReady: once(stdout, 'data'), goOn: () => void stdin.write('go on') };
  }
  const waitToGoOn = `console.log('ready');
    await new Promise((resolve) => process.stdin.once('data', resolve));`;

  it('gets the last line of a process that ends itself, though it comes late to many', async (t) => {
    const pipe = openPipe();
    const code = `${openLog}
      for (let n = 0; n < 5_000; n += 1) logger.info({ n }, 'line');
      logger.fatal('the end');
      console.log('ready');
      void isWrittenSoon(process.stderr).then(() => process.exit(1));`;
    const { exited, isReady } = run(t, code, pipe.fd);
    closeSync(pipe.fd);
    await isReady;
    const lines = await pipe.read();
    assert.deepEqual(await exited, [1, null]);
    assert.deepEqual([lines.length, lines.at(-1)?.msg], [5_001, 'the end']);
  });

  it('may stall when another process, as npm does, has set the shared pipe back to blocking at its end', async (t) => {
    const { fd } = openPipe();
    const other = run(t, `${waitToGoOn} process.exit(0);`, fd);
    await other.isReady;
    const code = `${openLog}
      logger.info('first');
      ${waitToGoOn}
      for (let n = 0; n < 20_000; n += 1) logger.info({ n }, 'line');
      process.exit(output.droppedLines() > 0 ? 0 : 1);`;
    const logging = run(t, code, fd);
    closeSync(fd);
    await logging.isReady;
    other.goOn();
    assert.deepEqual(await other.exited, [0, null]);
    logging.goOn();
    assert.deepEqual(await logging.exited, [0, null]);
  });

  const script = '/usr/bin/script';
  it('may be a terminal that has been stopped', { skip: !existsSync(script) }, async (t) => {
    const result = path.join(folder, 'terminal');
    const code = `${openLog}
      import { renameSync, writeFileSync } from 'node:fs';
      for (let n = 0; n < 5_000; n += 1) logger.info({ text: 'x'.repeat(1_000) }, 'line');
      writeFileSync('${result}.new', String([process.stderr.isTTY, output.droppedLines() > 0]));
      renameSync('${result}.new', '${result}');
      process.exit();`;
    // Whose reader reads no more: `script` holds the other end of the terminal, and its own output is not read.
    const { fd } = openPipe();
    const command = `'${process.execPath}' --input-type=module -e "$CODE"`;
    const terminal = spawn(script, ['-qec', command, '/dev/null'], {
      env: { ...process.env, CODE: code },
      stdio: ['ignore', fd, 'ignore'],
    });
    t.after(() => void terminal.kill('SIGKILL'));
    closeSync(fd);
    for (let waitedMs = 0; !existsSync(result); waitedMs += 50) {
      assert.ok(waitedMs < patienceMs, 'it hangs');
      await sleep(50);
    }
    assert.equal(await readFile(result, 'utf8'), 'true,true');
  });
});

async function readLines(stream: Readable): Promise<Line[]> {
  const whole = await text(stream);
  assert.ok(whole.endsWith('\n'));
  return whole
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

async function stop(child: ChildProcess): Promise<unknown[]> {
  const exited = once(child, 'exit', { signal: AbortSignal.timeout(patienceMs) });
  child.kill('SIGTERM');
  return exited;
}
