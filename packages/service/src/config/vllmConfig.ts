import path from 'node:path';
import { z } from 'zod';

/** vLLM servers that answer and score, while the embedded engine trains. */
export interface VllmConfig {
  /** Base addresses without a slash at the end, at least one. */
  readonly urls: readonly string[];
  /** Absolute. The servers see it under the same path. */
  readonly adapterFolder: string;
  /** The most adapters that a server has under a name, at most its `--max-cpu-loras`. */
  readonly maxAdapters: number;
}

function isAddress(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

export const vllmVariables = {
  ENGRAFT_VLLM_URL: z
    .string()
    .transform((list) => list.split(',').map((url) => url.trim().replace(/\/+$/, '')))
    .refine(
      (urls) => urls.every(isAddress),
      'must be one address that starts with http:// or https://, or several with commas between',
    )
    .refine((urls) => !urls.some((url) => url.endsWith('/v1')), 'must not end in /v1: the paths begin with it')
    .refine((urls) => !urls.some((url) => url.includes('@')), 'must hold no password')
    .refine((urls) => new Set(urls).size === urls.length, 'must name each server once')
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
