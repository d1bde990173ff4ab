/** The answers of a vLLM server about itself and its adapters, as far as they are read. */
import { z } from 'zod';

const modelList = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      parent: z.string().nullish(),
      root: z.string().nullish(),
      max_model_len: z.int().positive().nullish(),
    }),
  ),
});
const refusal = z.object({ error: z.object({ message: z.string() }) });
const maxReasonChars = 300;

export interface ServedModels {
  readonly base: { readonly name: string; readonly maxModelTokens: number } | null;
  /** The folders of adapters, by name. */
  readonly adapters: ReadonlyMap<string, string>;
}

/** The body of `GET /v1/models`; `null` if it is something else. */
export function readModels(text: string): ServedModels | null {
  const list = modelList.safeParse(parseJson(text)).data?.data;
  if (list === undefined) return null;
  const base = list.find(({ parent }) => parent === null || parent === undefined);
  const adapters = list.filter(({ parent }) => parent !== null && parent !== undefined);
  return {
    base: base === undefined ? null : { name: base.id, maxModelTokens: base.max_model_len ?? 0 },
    adapters: new Map(adapters.map(({ id, root }) => [id, root ?? ''])),
  };
}

/** Why a server refused, in its own words. */
export function readReason(text: string): string {
  return (refusal.safeParse(parseJson(text)).data?.error.message ?? text).slice(0, maxReasonChars);
}

/** Whether a status says that a server, or a proxy before it, may do later what it has not done. */
export function mayPass(status: number): boolean {
  return [408, 429, 502, 503, 504].includes(status);
}

/** Whether a 404 is about a model or adapter, not about an address that the server does not have. */
export function isAboutModel(text: string): boolean {
  return refusal.safeParse(parseJson(text)).success;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
