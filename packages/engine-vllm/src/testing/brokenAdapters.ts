/** Copies of an adapter with one fault each, as other tools and half-written files leave them. */
import { cp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { hashAdapterFolder, type AdapterReference } from '@engraft/engine';

const weightsFile = 'adapter_model.safetensors';
const configFile = 'adapter_config.json';

interface TensorHeader {
  dtype: string;
  shape: number[];
  data_offsets: [number, number];
}

/** The tensors of a file by name, to be changed and written again. */
type Tensors = Map<string, { shape: number[]; data: Float32Array }>;

const changes: Readonly<Record<string, (tensors: Tensors) => void>> = {
  'all keys under a wrong prefix': (tensors) => {
    for (const [name, tensor] of [...tensors]) {
      tensors.delete(name);
      tensors.set(name.replace('base_model.model.', 'base_model.other.'), tensor);
    }
  },
  'a layer that does not exist': (tensors) => {
    for (const [name, tensor] of [...tensors]) {
      if (!name.includes('.layers.0.')) continue;
      tensors.delete(name);
      tensors.set(name.replace('.layers.0.', '.layers.77.'), tensor);
    }
  },
  'a cut matrix': (tensors) => {
    const [name, { shape, data } = { shape: [0, 0], data: new Float32Array() }] = [...tensors].find(([each]) =>
      each.includes('q_proj.lora_B'),
    ) ?? [''];
    const [rows = 0, columns = 0] = shape;
    tensors.set(name, { shape: [rows / 2, columns], data: data.slice(0, (rows / 2) * columns) });
  },
  'weights that are no numbers': (tensors) => {
    for (const { data } of tensors.values()) data.fill(NaN);
  },
};

export const brokenKinds = Object.keys(changes);

/** @param kind one of `brokenKinds` */
export async function breakAdapter(
  { folder }: AdapterReference,
  target: string,
  kind: string,
): Promise<AdapterReference> {
  await cp(folder, target, { recursive: true });
  const tensors = parse(await readFile(path.join(folder, weightsFile)));
  changes[kind]?.(tensors);
  await writeFile(path.join(target, weightsFile), serialize(tensors));
  return referenceTo(target);
}

/** The same matrices under a configuration that states half their rank. */
export async function misstateRank({ folder }: AdapterReference, target: string): Promise<AdapterReference> {
  await cp(folder, target, { recursive: true });
  const file = path.join(target, configFile);
  const config = JSON.parse(await readFile(file, 'utf8')) as { r: number };
  await writeFile(file, JSON.stringify({ ...config, r: config.r / 2 }));
  return referenceTo(target);
}

/** The first half of the file. */
export async function truncateAdapter({ folder }: AdapterReference, target: string): Promise<AdapterReference> {
  await cp(folder, target, { recursive: true });
  const bytes = await readFile(path.join(folder, weightsFile));
  await writeFile(path.join(target, weightsFile), bytes.subarray(0, bytes.length / 2));
  return referenceTo(target);
}

async function referenceTo(folder: string): Promise<AdapterReference> {
  return { folder, contentHash: (await hashAdapterFolder(folder)) ?? '' };
}

function parse(file: Buffer): Tensors {
  const length = Number(file.readBigUInt64LE(0));
  const header = JSON.parse(file.toString('utf8', 8, 8 + length)) as Record<string, TensorHeader>;
  const tensors: Tensors = new Map();
  for (const [name, { shape, data_offsets }] of Object.entries(header)) {
    if (name === '__metadata__') continue;
    const [start, end] = data_offsets.map((offset) => 8 + length + offset) as [number, number];
    tensors.set(name, { shape, data: new Float32Array(new Uint8Array(file.subarray(start, end)).buffer) });
  }
  return tensors;
}

function serialize(tensors: Tensors): Buffer {
  const header: Record<string, unknown> = { __metadata__: { format: 'pt' } };
  const chunks: Buffer[] = [];
  let offset = 0;
  for (const [name, { shape, data }] of tensors) {
    header[name] = { dtype: 'F32', shape, data_offsets: [offset, offset + data.byteLength] };
    chunks.push(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
    offset += data.byteLength;
  }
  const json = Buffer.from(JSON.stringify(header));
  const padded = Buffer.concat([json, Buffer.alloc((8 - (json.length % 8)) % 8, ' ')]);
  const prefix = Buffer.alloc(8);
  prefix.writeBigUInt64LE(BigInt(padded.length));
  return Buffer.concat([prefix, padded, ...chunks]);
}
