import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { root } from '../docs/markdown.js';

test('THIRD_PARTY.md names what our packages hold and need now', () => {
  const script = path.join(root, 'scripts/thirdParty.mjs');
  const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
});
