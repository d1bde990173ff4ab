import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { documentedRule } from './testing/documentedRule.js';
import { modelId, openBench } from './testing/pulling.js';
import type { ListedFile } from './testing/hubFiles.js';

const files = { 'config.json': '{"hidden_size": 8}', 'model.safetensors': Buffer.alloc(5000, 3) };

documentedRule('Every file is verified by the hash that the hub promises, and gets its name only then.', async (t) => {
  const wrong = { 'config.json': Buffer.from('{"hidden_size": 9}'), 'model.safetensors': Buffer.alloc(5000, 4) };
  for (const [name, content] of Object.entries(wrong)) {
    await t.test(name, async (each) => {
      const { hub, cacheFolder, pull } = await openBench(each);
      hub.put(modelId, files);
      hub.faults.contentOf = (path) => (path === name ? content : null);
      const message = new RegExp(`^${name} came with other content than .* promises .* twice`);
      await assert.rejects(pull(), { code: 'content_wrong', message });
      const blobs = await readdir(path.join(cacheFolder, 'models--acme--tiny', 'blobs'));
      assert.equal(blobs.length, name === 'config.json' ? 0 : 1, 'of the wrong file nothing is left');
    });
  }
});

test('content that was wrong once is fetched once more', async (t) => {
  const { hub, pull } = await openBench(t);
  hub.put(modelId, files);
  const wrong = [Buffer.alloc(5000, 4)];
  hub.faults.contentOf = (name) => (name === 'model.safetensors' ? (wrong.shift() ?? null) : null);
  assert.equal((await pull()).kind, 'pulled');
});

test('more bytes than were promised are no more than wrong', async (t) => {
  const { hub, pull } = await openBench(t);
  hub.put(modelId, files);
  hub.faults.contentOf = (name) => (name === 'model.safetensors' ? Buffer.alloc(6000, 4) : null);
  await assert.rejects(pull(), { code: 'content_wrong' });
});

test('a hub that promises one hash in its listing and another beside the file is not downloaded from', async (t) => {
  const { hub, pull } = await openBench(t);
  hub.put(modelId, files);
  hub.faults.linkedEtag = 'f'.repeat(64);
  await assert.rejects(pull(), {
    code: 'answer_invalid',
    message:
      /contradicts itself about model\.safetensors \(x-linked-etag is f{64}, not [0-9a-f]{64}\): check HF_ENDPOINT/,
  });
});

test('what is no listing is refused before a file is made of it', async (t) => {
  const { hub, cacheFolder, pull } = await openBench(t);
  hub.put(modelId, files);
  const changed = (changes: Partial<ListedFile>) => (entries: readonly ListedFile[]) =>
    entries.map((entry) => (entry.path === 'config.json' ? { ...entry, ...changes } : entry));
  const listings: readonly (readonly [(entries: readonly ListedFile[]) => unknown, RegExp])[] = [
    [changed({ path: '../../../evil' }), /leads out of the model/],
    [changed({ path: '/etc/evil' }), /leads out of the model/],
    [changed({ path: 'a/..\\evil' }), /leads out of the model/],
    [changed({ path: 'C:evil' }), /leads out of the model/],
    [changed({ oid: '../evil' }), /oid/],
    [changed({ lfs: { oid: '../../evil', size: 1, pointerSize: 1 } }), /lfs\.oid/],
    [changed({ size: -1 }), /size/],
    [() => ({ error: 'none' }), /does not answer like a hub/],
    [() => null, /does not answer like a hub/],
  ];
  for (const [listing, message] of listings) {
    hub.faults.listing = listing;
    await assert.rejects(pull(), { code: 'answer_invalid', message });
  }
  await assert.rejects(readdir(cacheFolder), { code: 'ENOENT' });
});
