/** The identity of an adapter: a hash over the names, lengths and bytes of its two files. */
import { createHash } from 'node:crypto';

export const CONFIG_FILE = 'adapter_config.json';
export const WEIGHTS_FILE = 'adapter_model.safetensors';

export interface AdapterFiles {
  readonly config: Uint8Array;
  readonly weights: Uint8Array;
}

/** `sha256:<hex>` over `<name>\n<length in bytes>\n<bytes>` of both files, the configuration first. */
export function contentHash(files: AdapterFiles): string {
  const hash = createHash('sha256');
  hash.update(`${CONFIG_FILE}\n${files.config.byteLength}\n`).update(files.config);
  hash.update(`${WEIGHTS_FILE}\n${files.weights.byteLength}\n`).update(files.weights);
  return `sha256:${hash.digest('hex')}`;
}
