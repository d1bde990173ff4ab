import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type AdapterReference, hashAdapterFolder } from '@engraft/engine';
import type { AdapterStore } from '../adapterStore/adapterStore.js';

/** Keeps an adapter whose weights are no weights, for code that copies and compares files. Returns its hash. */
export async function keepTestAdapter(store: AdapterStore, weights: string | Uint8Array): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'engraft-adapter-'));
  try {
    const adapter = await writeTestAdapter(folder, weights);
    await store.keep(adapter);
    return adapter.contentHash;
  } finally {
    await rm(folder, { recursive: true });
  }
}

export async function writeTestAdapter(folder: string, weights: string | Uint8Array): Promise<AdapterReference> {
  await writeFile(path.join(folder, 'adapter_config.json'), '{}');
  await writeFile(path.join(folder, 'adapter_model.safetensors'), weights);
  const contentHash = await hashAdapterFolder(folder);
  if (contentHash === null) throw new Error('an adapter that was just written cannot be read');
  return { folder, contentHash };
}
