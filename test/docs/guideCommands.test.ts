/** The guide's commands do what it says: on a real service with the shipped model. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { program, startService, type ServiceProcess } from '../crash/serviceProcess.js';
import { readShellBlocks, runBlocks } from './guideBlocks.js';
import { root } from './markdown.js';

const missing = ['bash', 'curl', 'jq'].filter((tool) => spawnSync(tool, ['--version']).status !== 0);
const skip = missing.length === 0 ? false : `${missing.join(' and ')} not found`;

let folder: string;
let service: ServiceProcess;
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'engraft-guide-'));
  await symlink(path.join(root, 'examples'), path.join(folder, 'examples'));
  service = await startService(path.join(folder, '.engraft'));
});
after(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

/** In this order: one page shows a balance of which nothing is spent, the next a project that has no subject yet. */
for (const page of ['money.md', 'tenants.md', 'learn-and-ask.md'])
  test(`docs/${page}`, { skip }, async () => {
    const blocks = await readShellBlocks(page);
    assert.ok(blocks.length >= 5);
    const here = blocks.map((block) => ({
      ...block,
      commands: block.commands.replaceAll('http://127.0.0.1:8080', service.url),
    }));
    const { PATH, HOME } = process.env;
    const env = {
      PATH,
      HOME,
      ENGRAFT_DATA_DIR: path.join(folder, '.engraft'),
      NODE: process.execPath,
      PROGRAM: program,
    };
    await runBlocks(here, 'npx() { shift; "$NODE" "$PROGRAM" "$@"; }', { cwd: folder, env });
  });
