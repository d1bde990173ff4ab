/** Reads tensors that lie beyond two and four gibibytes in a file. The rest of the file is holes. */
import assert from 'node:assert/strict';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { decoderWeightShapes, embeddingName } from '../model/weights.js';
import { createRandom } from '../support/random.js';
import { temporaryFolder } from '../testing/fixtures.js';
import { elementCount } from '../support/numbers.js';
import type { JsonObject } from './jsonFields.js';
import { JsonFields } from './jsonFields.js';
import { parseModelConfig } from './modelConfig.js';
import { serializeHeader, tensorBytes, type TensorSize } from './safetensors.js';
import { openWeights } from './weightFiles.js';

const head = 'lm_head.weight';
const norm = 'model.norm.weight';
/** The embedding and the head take just under two gibibytes each. */
const config: JsonObject = {
  architectures: ['LlamaForCausalLM'],
  vocab_size: 2 ** 18 - 2,
  hidden_size: 4096,
  intermediate_size: 2,
  num_hidden_layers: 1,
  num_attention_heads: 1,
  head_dim: 2,
  max_position_embeddings: 64,
};

void test('tensors at and beyond 2 and 4 GiB of a file are read from where they are', async (t) => {
  const folder = await temporaryFolder(t);
  const { decoder } = parseModelConfig(new JsonFields('config.json', config));
  const shapes = decoderWeightShapes(decoder);
  const small = [...shapes.keys()].filter((name) => ![embeddingName, head, norm].includes(name));
  const order = [embeddingName, ...small.slice(0, 1), head, ...small.slice(1), norm];
  const tensors: readonly TensorSize[] = order.map((name) => ({
    name,
    type: name === embeddingName || name === head ? 'BF16' : 'F32',
    shape: shapes.get(name) ?? [],
  }));
  const random = createRandom(1);
  const values = new Map<string, Float32Array>();
  const spans: (readonly [number, number])[] = [];
  const file = await open(join(folder, 'model.safetensors'), 'w');
  try {
    const header = serializeHeader(tensors, {});
    await file.write(header, 0, header.byteLength, 0);
    let position = header.byteLength;
    for (const { name, type, shape } of tensors) {
      const end = position + tensorBytes({ type, shape });
      if (type === 'F32') {
        const data = Float32Array.from({ length: elementCount(shape) }, () => random.next());
        await file.write(new Uint8Array(data.buffer), 0, data.byteLength, position);
        values.set(name, data);
        spans.push([position, end]);
      }
      position = end;
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && /^(?:ENOSPC|EFBIG|EINVAL)$/.test(String(error.code))))
      throw error;
    t.skip('the file system keeps no such file');
    return;
  } finally {
    await file.close();
  }
  for (const bound of [2 ** 31, 2 ** 32]) {
    assert.ok(
      spans.some(([start, end]) => start < bound && end > bound),
      `a tensor lies across byte ${bound}`,
    );
  }
  const weights = await openWeights(folder, decoder, 0);
  const places = new Map([...values].map(([name, { length }]) => [name, new Float32Array(length)]));
  await weights.read(places);
  assert.deepEqual(places, values);
});
