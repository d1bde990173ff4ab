import path from 'node:path';
import { z } from 'zod';
import { addressList } from './addressList.js';

/** vLLM servers that answer and score, while the embedded engine or trainers train. */
export interface VllmConfig {
  /** Base addresses without a slash at the end, at least one. */
  readonly urls: readonly string[];
  /** Absolute. The servers see it under the same path. */
  readonly adapterFolder: string;
  /** The most adapters that a server has under a name, at most its `--max-cpu-loras`. */
  readonly maxAdapters: number;
}

export const vllmVariables = {
  ENGRAFT_VLLM_URL: addressList
    .refine((urls) => !urls.some((url) => url.endsWith('/v1')), 'must not end in /v1: the paths begin with it')
    .optional(),
  ENGRAFT_VLLM_ADAPTER_DIR: z.string().optional(),
  ENGRAFT_VLLM_ADAPTERS: z
    .string()
    .regex(/^[1-9]\d{0,4}$/, 'must be a whole number of adapters from 1 to 99999')
    .transform(Number)
    .default(16),
};

type VllmVariables = z.output<z.ZodObject<typeof vllmVariables>>;

/** @returns `null` if no address is given. */
export function vllmConfigOf(values: VllmVariables, dataFolder: string): VllmConfig | null {
  const { ENGRAFT_VLLM_URL: urls, ENGRAFT_VLLM_ADAPTER_DIR: folder, ENGRAFT_VLLM_ADAPTERS: maxAdapters } = values;
  if (urls === undefined) return null;
  return { urls, adapterFolder: path.resolve(folder ?? path.join(dataFolder, 'vllm')), maxAdapters };
}
