/** Which checkpoint an adapter of this engine was trained on. */
import path from 'node:path';
import { readBoundedFile } from '../support/boundedFile.js';
import { EngineError } from '../engine.js';
import type { AdapterReference } from '../types.js';
import { adapterConfigFile, isAdapterIntact } from './contentHash.js';
import { maxConfigBytes, parseObject } from './peftConfig.js';

export type TrainedOn =
  /** The `contentHash` of the checkpoint's description. */
  | { readonly kind: 'known'; readonly contentHash: string }
  /** The adapter is intact but names no checkpoint by its hash: another tool made it. */
  | { readonly kind: 'not_said' }
  /** A file is missing, unreadable or changed. */
  | { readonly kind: 'damaged' };

/** Reads which checkpoint the adapter's configuration names. Reads and verifies the whole adapter. */
export async function readTrainedOn(reference: AdapterReference): Promise<TrainedOn> {
  const named = await readName(reference).catch((error: unknown) => {
    if (error instanceof EngineError) return undefined;
    throw error;
  });
  if (named === undefined || !(await isWhole(reference))) return { kind: 'damaged' };
  const isHash = typeof named === 'string' && /^sha256:[0-9a-f]{64}$/.test(named);
  return isHash ? { kind: 'known', contentHash: named } : { kind: 'not_said' };
}

/** Gives `undefined` when the file does not exist. */
async function readName({ folder }: AdapterReference): Promise<unknown> {
  const file = path.join(folder, adapterConfigFile);
  const bytes = await readBoundedFile(file, { code: 'adapter_invalid', file }, maxConfigBytes);
  return bytes === undefined ? undefined : (parseObject(bytes)['base_model_name_or_path'] ?? null);
}

async function isWhole(reference: AdapterReference): Promise<boolean> {
  try {
    return await isAdapterIntact(reference);
  } catch (error) {
    if (error instanceof EngineError) return false;
    throw error;
  }
}
