import assert from 'node:assert/strict';
import { fsyncSync } from 'node:fs';
import {
  cp,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  rm,
  truncate,
  utimes,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { serializeSafetensors, type FloatTensor } from '../checkpoint/safetensors.js';
import { freshMatrices, toAdapter } from '../lora/parameters.js';
import {
  fixtureNames,
  loadFixture,
  readTensors,
  referenceTo,
  temporaryFolder,
  tinyConfig,
} from '../testing/fixtures.js';
import type { AdapterReference } from '../types.js';
import { readAdapter, writeAdapter } from './adapterFolder.js';
import { hashAdapterFolder } from './contentHash.js';

const adapter = toAdapter(freshMatrices(tinyConfig, 2, 1), { rank: 2, alpha: 3 });
const key = 'base_model.model.model.layers.1.mlp.down_proj.lora_B.weight';

void test('a written adapter is read back unchanged, and writing it again gives the same hash', async (t) => {
  const folder = await temporaryFolder(t);
  const first = await writeAdapter(path.join(folder, 'deep', 'first'), adapter, 'base');
  const second = await writeAdapter(path.join(folder, 'second'), adapter, 'base');
  assert.match(first.contentHash, /^sha256:[0-9a-f]{64}$/);
  assert.equal(first.contentHash, second.contentHash);
  assert.deepEqual((await readdir(first.folder)).sort(), ['adapter_config.json', 'adapter_model.safetensors']);
  const weights = await readFile(path.join(first.folder, 'adapter_model.safetensors'));
  const config = await readFile(path.join(first.folder, 'adapter_config.json'));
  assert.equal(first.sizeBytes, weights.byteLength + config.byteLength);
  assert.deepEqual(await readAdapter(first, tinyConfig), adapter);
  assert.deepEqual((await readdir(folder)).sort(), ['deep', 'second'], 'nothing temporary is left');
});

void test('a written adapter survives a power cut, with the folders that were made for it', async (t) => {
  if (process.platform !== 'linux') {
    t.skip('syncs are watched by /proc');
    return;
  }
  const folder = await temporaryFolder(t);
  const handle = await open(folder, 'r');
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const synced = new Map<string, readonly string[]>();
  t.mock.method(prototype, 'sync', async function (this: FileHandle) {
    const target = await readlink(`/proc/self/fd/${this.fd}`);
    synced.set(target, await readdir(target).catch(() => []));
    fsyncSync(this.fd);
  });
  await writeAdapter(path.join(folder, 'new', 'deep', 'adapter'), adapter, null);
  assert.deepEqual(synced.get(folder), ['new']);
  assert.deepEqual(synced.get(path.join(folder, 'new')), ['deep']);
  assert.deepEqual(synced.get(path.join(folder, 'new', 'deep')), ['adapter']);
});

for (const name of fixtureNames) {
  void test(`${name}: an adapter that peft saved is read tensor by tensor`, async () => {
    const { adapter, adapterReference } = await loadFixture(name);
    const saved = readTensors(path.join(adapterReference.folder, 'adapter_model.safetensors'));
    assert.equal(adapter.matrices.size, saved.size);
    for (const [matrix, tensor] of adapter.matrices) {
      assert.deepEqual(tensor, saved.get(`base_model.model.${matrix}.weight`));
    }
  });
}

for (const name of fixtureNames) {
  void test(`${name}: what peft saved is written as peft saved it`, async (t) => {
    const { adapter, adapterReference } = await loadFixture(name);
    const written = await writeAdapter(path.join(await temporaryFolder(t), 'adapter'), adapter, null);
    const tensorsOf = ({ folder }: AdapterReference) => readTensors(path.join(folder, 'adapter_model.safetensors'));
    const [tensors, saved] = [tensorsOf(written), tensorsOf(adapterReference)];
    assert.deepEqual([...tensors.keys()].sort(), [...saved.keys()].sort());
    for (const [key, { shape, data }] of saved) {
      assert.deepEqual(tensors.get(key)!.shape, shape, key);
      assert.deepEqual(bytesOf(tensors.get(key)!.data), bytesOf(data), key);
    }
    assert.deepEqual(await meaningOf(written), await meaningOf(adapterReference));
  });
}

/**
 * Fields that do not change what peft computes. Three tell how the adapter was made, and peft reads the other two only
 * beside fields that are empty here.
 */
const unread = ['base_model_name_or_path', 'peft_version', 'init_lora_weights', 'megatron_core', 'qalora_group_size'];

/**
 * The fields that peft reads, in a form that can be compared. Empty fields are left out, because peft ignores them.
 * Target modules become a set, a single layer becomes a list, and patterns keep their order.
 */
async function meaningOf({ folder }: AdapterReference): Promise<unknown> {
  const text = await readFile(path.join(folder, 'adapter_config.json'), 'utf8');
  const config = JSON.parse(text) as Record<string, unknown>;
  const isRead = ([field, value]: readonly [string, unknown]): boolean =>
    !unread.includes(field) && value !== false && JSON.stringify(value ?? {}) !== '{}';
  return new Map(
    Object.entries(config)
      .filter(isRead)
      .map(([field, value]) => [field, inOneForm(field, value)]),
  );
}

function inOneForm(field: string, value: unknown): unknown {
  if (field === 'target_modules' && Array.isArray(value)) return new Set(value);
  if (field === 'layers_to_transform') return [value].flat();
  return field.endsWith('_pattern') ? Object.entries(value ?? {}) : value;
}

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

void test('a value that F16 has no room for is refused by its key, and nothing is written', async (t) => {
  const folder = path.join(await temporaryFolder(t), 'adapter');
  const [name, { shape, data }] = [...adapter.matrices][0]!;
  const matrices = new Map([...adapter.matrices, [name, { shape, data: data.map(() => 70_000) }]]);
  await assert.rejects(writeAdapter(folder, { ...adapter, matrices }, null, 'F16'), {
    code: 'internal',
    message: new RegExp(`base_model\\.model\\.${name}\\.weight`),
  });
  await assert.rejects(readdir(folder), { code: 'ENOENT' });
});

void test('an adapter never replaces another one', async (t) => {
  const folder = await temporaryFolder(t);
  const reference = await writeAdapter(path.join(folder, 'adapter'), adapter, null);
  const other = toAdapter(freshMatrices(tinyConfig, 2, 2), { rank: 2, alpha: 3 });
  await assert.rejects(writeAdapter(reference.folder, other, null), { name: 'EngineError', code: 'internal' });
  assert.deepEqual(await readAdapter(reference, tinyConfig), adapter);
  assert.deepEqual(await readdir(folder), ['adapter']);
});

void test('what a process that was killed has left of a folder goes when the folder is written again, and nothing else', async (t) => {
  const folder = await temporaryFolder(t);
  const old = ['adapter.partial-0123456789ab', 'other.partial-0123456789ab', 'adapter.partial-notes', 'adapter-kept'];
  for (const name of [...old, 'adapter.partial-456789abcdef']) {
    await mkdir(path.join(folder, name));
    await writeFile(path.join(folder, name, 'adapter_config.json'), '{');
  }
  const yesterday = new Date(Date.now() - 24 * 60 * 60_000);
  for (const name of old) await utimes(path.join(folder, name), yesterday, yesterday);
  await writeAdapter(path.join(folder, 'adapter'), adapter, null);
  const left = ['adapter', 'adapter.partial-456789abcdef', ...old.slice(1)];
  assert.deepEqual((await readdir(folder)).sort(), left.sort(), 'what may still be written stays, too');
});

void test('content that the reference does not promise is refused', async (t) => {
  const reference = await writeAdapter(path.join(await temporaryFolder(t), 'adapter'), adapter, null);
  const contentHash = `sha256:${'0'.repeat(64)}`;
  await refuses(readAdapter({ ...reference, contentHash }, tinyConfig), /contentHash/, 'adapter_damaged');
});

void test('an adapter of another model is refused, naming the key', async (t) => {
  const reference = await writeAdapter(path.join(await temporaryFolder(t), 'adapter'), adapter, null);
  await refuses(readAdapter(reference, { ...tinyConfig, ffnSize: 48 }), /layers\.0\.mlp\.gate_proj\.lora_B.* shape/);
  await refuses(readAdapter(reference, { ...tinyConfig, layers: 3 }), /layers\.2\..* missing/);
  await refuses(readAdapter(reference, { ...tinyConfig, layers: 1 }), /layers\.1\..* not a matrix that/);
});

const damaged: readonly (readonly [string, (tensors: Map<string, FloatTensor>) => void, RegExp])[] = [
  ['a missing matrix', (tensors) => tensors.delete(key), new RegExp(`${key} is missing`)],
  [
    'an unknown matrix',
    (tensors) => tensors.set('extra', { shape: [1], data: new Float32Array(1) }),
    /extra is not a matrix/,
  ],
  [
    'a transposed matrix',
    (tensors) => tensors.set(key, { shape: [2, 24], data: new Float32Array(48) }),
    /shape \[2, 24\], but the model asks for \[24, 2\]/,
  ],
  [
    'a value that is no number',
    (tensors) => tensors.set(key, { shape: [24, 2], data: new Float32Array(48).fill(NaN) }),
    /finite/,
  ],
];

for (const [name, damage, message] of damaged) {
  void test(`refused: ${name}`, async (t) => {
    const folder = await copyOfAdapter(t);
    const file = path.join(folder, 'adapter_model.safetensors');
    const tensors = new Map(readTensors(file));
    damage(tensors);
    await writeFile(file, serializeSafetensors(tensors, {}));
    await refuses(readAdapter(referenceTo(folder), tinyConfig), message);
  });
}

void test('a missing, oversized or truncated file, and a folder in its place, are refused', async (t) => {
  const folder = await copyOfAdapter(t);
  const reference = referenceTo(folder);
  const config = path.join(folder, 'adapter_config.json');
  await truncate(path.join(folder, 'adapter_model.safetensors'), 100);
  await refuses(readAdapter(referenceTo(folder), tinyConfig), /adapter_model\.safetensors/);
  const damaged = (message: RegExp) => refuses(readAdapter(reference, tinyConfig), message, 'adapter_damaged');
  await damaged(/contentHash/);
  await truncate(path.join(folder, 'adapter_model.safetensors'), 2 ** 30);
  await damaged(/1073741824 bytes/);
  await rm(config);
  await damaged(/adapter_config\.json is missing/);
  await mkdir(config);
  await damaged(/adapter_config\.json is not a file/);
  await rm(folder, { recursive: true });
  await damaged(/adapter_config\.json is missing/);
  await writeFile(folder, 'no folder');
  await damaged(/adapter_config\.json cannot be read \(ENOTDIR\)/);
});

void test('whatever byte of an adapter has changed, it is damaged and never another model’s', async (t) => {
  const folder = await copyOfAdapter(t);
  const reference = referenceTo(folder);
  for (const name of ['adapter_config.json', 'adapter_model.safetensors']) {
    const file = path.join(folder, name);
    const original = await readFile(file);
    for (let at = 0; at < original.byteLength; at += 97) {
      const changed = Buffer.from(original);
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      await writeFile(file, changed);
      assert.notEqual(await hashAdapterFolder(folder), reference.contentHash);
      await refuses(readAdapter(reference, tinyConfig), /./, 'adapter_damaged');
    }
    await writeFile(file, original);
  }
  assert.equal(await hashAdapterFolder(folder), reference.contentHash);
});

async function copyOfAdapter(t: TestContext): Promise<string> {
  const folder = await temporaryFolder(t);
  const { folder: original } = await writeAdapter(path.join(folder, 'original'), adapter, null);
  await cp(original, path.join(folder, 'copy'), { recursive: true });
  return path.join(folder, 'copy');
}

async function refuses(reading: Promise<unknown>, message: RegExp, code = 'adapter_invalid'): Promise<void> {
  await assert.rejects(reading, { name: 'EngineError', code, message });
}
