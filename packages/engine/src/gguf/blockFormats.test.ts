import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { suite, test } from 'node:test';
import { readTensors } from '../testing/fixtures.js';
import { ggufFixture } from '../testing/ggufFixtures.js';
import { ggufBlockFormats, decodeBlocks } from './blockFormats.js';
import { withGguf } from './ggufFile.js';

suite("numbers of every type are those of llama.cpp's own Python package, to the last bit", () => {
  const expected = readTensors(ggufFixture('types.safetensors'));
  for (const { name } of ggufBlockFormats.values()) {
    test(name, () =>
      withGguf(ggufFixture('types.gguf'), async ({ tensors }) => {
        const tensor = tensors.find((each) => each.name === name);
        assert.ok(tensor !== undefined);
        assert.equal(tensor.format.name, name);
        const wanted = expected.get(name)?.data ?? assert.fail();
        const bytes = (await readFile(ggufFixture('types.gguf'))).subarray(tensor.start, tensor.end);
        const found = new Float32Array(wanted.length);
        decodeBlocks(tensor.format, bytes, found);
        assert.deepEqual(found, wanted);
      }),
    );
  }
});
