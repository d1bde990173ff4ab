import assert from 'node:assert/strict';
import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { examineArchives } from './examineArchives.js';
import type { RecordedArchive } from './listArchives.js';

const content = 'as it was written';
const recorded = ['2026-05/a', '2026-05/b', '2026-06/c', '2026-06/d', '2026-07/e'].map((name, id): RecordedArchive => ({
  id,
  month: name.slice(0, 7),
  file: `${name}.jsonl.gz`,
  moved_at: new Date(),
  jobs: 1,
  transfers: 3,
  amount_microusd: 200,
  size_bytes: content.length,
  sha256: 'a'.repeat(64),
}));

describe('examineArchives', () => {
  let folder: string;
  const fileOf = (index: number): string => path.join(folder, recorded[index]?.file ?? '');
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'engraft-archive-'));
    for (const { month, file } of recorded) {
      await mkdir(path.join(folder, month), { recursive: true });
      await writeFile(path.join(folder, file), content);
    }
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const examine = (archives: readonly RecordedArchive[] = recorded, afterMonths: number | null = 3) =>
    examineArchives(archives, { folder, afterMonths });

  it('says how many files are there, and what it has not looked at', async () => {
    assert.equal(await examine(), `5 files in ${folder}, in size as written: \`engraft archive verify\` reads them`);
    // Files stay when nothing more is archived.
    assert.match((await examine(recorded.slice(0, 1), null)) ?? '', /^1 file in /);
  });

  it('has nothing to say where nothing is archived', async () => {
    assert.equal(await examine([], null), null);
    await rm(folder, { recursive: true });
    assert.equal(await examine([]), `none in ${folder} yet`);
  });

  it('finds files that are gone, cut, longer or no files', async () => {
    await rm(fileOf(0));
    await assert.rejects(examine(), /of 5 files in .*, 2026-05\/a\.jsonl\.gz cannot be read: ENOENT/);
    await writeFile(fileOf(0), content);
    await writeFile(fileOf(1), content.slice(1));
    await assert.rejects(examine(), /, 2026-05\/b\.jsonl\.gz has 16 bytes instead of 17$/);
    await appendFile(fileOf(1), 'and more');
    await rm(fileOf(2));
    await mkdir(fileOf(2));
    await assert.rejects(examine(), /b\.jsonl\.gz has 24 bytes instead of 17; 2026-06\/c\.jsonl\.gz is not a file$/);
  });

  it('tells the first of many faults', async () => {
    await Promise.all(recorded.map((_, index) => rm(fileOf(index))));
    await assert.rejects(examine(), /2026-06\/c\.jsonl\.gz cannot be read: [^;]*; and 2 more$/);
  });

  it('finds a folder that is not there', async () => {
    await rm(folder, { recursive: true });
    await assert.rejects(examine(), /^Error: .*, which should have 5 files, cannot be read: ENOENT/);
  });
});
