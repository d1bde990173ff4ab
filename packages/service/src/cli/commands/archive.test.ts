import assert from 'node:assert/strict';
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { z } from 'zod';
import { archiveEndedJobs } from '../../archive/archiveEndedJobs.js';
import { close, database, engraft, open } from '../../testing/commandTest.js';
import { makeOldJob, monthAgo } from '../../testing/oldJob.js';
import { createTestKey, createTestProject } from '../../testing/testApp.js';

describe('engraft archive', () => {
  let folder: string;
  before(async () => {
    await open();
    folder = await mkdtemp(path.join(tmpdir(), 'engraft-archives-'));
  });
  after(async () => {
    await close();
    await rm(folder, { recursive: true });
  });

  const run = (...args: string[]) => engraft(['archive', ...args], { ENGRAFT_ARCHIVE_DIR: folder });
  const doctor = () => engraft(['doctor'], { ENGRAFT_ARCHIVE_DIR: folder, ENGRAFT_ENGINE: 'off' });

  it('lists the files of closed months, and says whether they are as they were written, as the doctor does', async () => {
    const nothing = await run('verify');
    assert.deepEqual([nothing.status, nothing.stdout], [0, '0 files, 0 jobs: all are as they were written\n']);
    const key = await createTestKey(database.db, await createTestProject(database.db));
    await makeOldJob(database.db, key, { endedMonthsAgo: 4, reserved_microusd: 100, charged_microusd: 60 });
    await archiveEndedJobs(database.db, { folder, afterMonths: 3 });

    const listed = await run('list', '--json');
    const [archive, ...others] = z
      .array(
        z.strictObject({
          id: z.number(),
          month: z.string(),
          file: z.string(),
          moved_at: z.iso.datetime(),
          jobs: z.number(),
          transfers: z.number(),
          amount_microusd: z.number(),
          size_bytes: z.number(),
          sha256: z.string().length(64),
        }),
      )
      .parse(JSON.parse(listed.stdout));
    assert.deepEqual(others, []);
    assert.ok(archive !== undefined);
    assert.deepEqual(
      [archive.month, archive.jobs, archive.transfers, archive.amount_microusd],
      [monthAgo(4), 1, 3, 200],
    );
    assert.match((await run('list')).stdout, new RegExp(`^MONTH .*\\n${monthAgo(4)} .*${archive.file}\\n$`));

    assert.deepEqual(JSON.parse((await run('verify', '--json')).stdout), {
      ok: true,
      files: 1,
      jobs: 1,
      differences: [],
    });
    assert.match((await doctor()).stdout, /^ok +archives +1 file in .*, in size as written/m);
    await appendFile(path.join(folder, archive.file), 'x');
    const damaged = await run('verify');
    assert.equal(damaged.status, 1);
    assert.match(damaged.stdout, /cannot be read|has other bytes/);
    assert.match(damaged.stderr, /^engraft: the archives in .* are not as they were written\n$/);
    const examined = await doctor();
    assert.deepEqual([examined.status, examined.stderr], [1, 'engraft: something is wrong with: archives\n']);
    assert.match(examined.stdout, /^WRONG +archives +of 1 file in .* has \d+ bytes instead of \d+$/m);
  });
});
