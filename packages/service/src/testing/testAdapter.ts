import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { hashAdapterFolder } from '@engraft/engine';
import type { AdapterStore } from '../adapterStore/adapterStore.js';

/** Keeps an adapter whose weights are no weights, for code that copies and compares files. Returns its hash. */
export async function keepTestAdapter(store: AdapterStore, weights: string | Uint8Array): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'engraft-adapter-'));
  try {
    await writeFile(path.join(folder, 'adapter_config.json'), '{}');
    await writeFile(path.join(folder, 'adapter_model.safetensors'), weights);
    const contentHash = await hashAdapterFolder(folder);
    if (contentHash === null) throw new Error('an adapter that was just written cannot be read');
    await store.keep({ folder, contentHash });
    return contentHash;
  } finally {
    await rm(folder, { recursive: true });
  }
}
