import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { importFolderOf } from './chosenModel.js';

describe('the folder that a GGUF file is imported into', () => {
  let home: string;
  before(async () => {
    home = await mkdtemp(path.join(tmpdir(), 'engraft-chosen-'));
  });
  after(() => rm(home, { recursive: true }));

  it('is the same for the same file, and another for any other of its name', async () => {
    const [one, other] = [path.join(home, 'model.gguf'), path.join(home, 'elsewhere', 'model.gguf')];
    await mkdir(path.dirname(other));
    for (const file of [one, other]) await writeFile(file, 'weights');
    const first = importFolderOf(one, home);
    assert.match(path.relative(home, first), /^models\/model-[0-9a-f]{12}$/);
    assert.equal(importFolderOf(path.relative(process.cwd(), one), home), first);
    assert.notEqual(importFolderOf(other, home), first);
    await utimes(one, new Date(), new Date(0));
    const touched = importFolderOf(one, home);
    assert.notEqual(touched, first);
    await writeFile(one, 'other weights');
    await utimes(one, new Date(), new Date(0));
    assert.notEqual(importFolderOf(one, home), touched);
  });

  it('is told also of a file that is not there, which the import then refuses', () => {
    assert.match(importFolderOf(path.join(home, 'absent.GGUF'), home), /absent-[0-9a-f]{12}$/);
  });
});
