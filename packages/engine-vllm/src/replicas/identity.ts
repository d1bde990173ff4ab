/** Whether a server is what the service needs: the same checkpoint, with the options that it was asked to have. */
import { isSameModel } from '../adapters/probeCheck.js';
import { ReplicaAway } from '../adapters/replicaAdapters.js';
import type { Receipt } from '../completions/readReceipt.js';
import { lossOf } from '../completions/scores.js';
import type { Exchange } from '../http/exchange.js';
import { isAboutModel, mayPass, readModels, readReason } from './wire.js';

export interface Identity {
  readonly contextLength: number;
  readonly sequences: readonly (readonly number[])[];
  /** The losses of these sequences under the checkpoint. */
  readonly losses: readonly number[];
}

export type Identified =
  | { readonly kind: 'fits'; readonly servedName: string }
  | { readonly kind: 'away'; readonly reason: string }
  /** It answers, and has another model or lacks an option. */
  | { readonly kind: 'unfit'; readonly reason: string };

export interface Asked {
  get(path: string): Promise<Exchange>;
  post(path: string, body: unknown): Promise<Exchange>;
  score(
    servedName: string,
    tokens: readonly number[],
  ): Promise<Receipt | { readonly kind: 'refused'; readonly reason: string }>;
}

/** Asks for its models, an adapter that does not exist, and a few probabilities. */
export async function identify(server: Asked, expected: Identity): Promise<Identified> {
  try {
    const models = await server.get('/v1/models');
    const base = models.kind === 'response' && models.status === 200 ? readModels(models.body)?.base : undefined;
    if (models.kind !== 'response') return away(models);
    if (mayPass(models.status) || models.status === 500) {
      return { kind: 'away', reason: `it lists no models: status ${models.status}` };
    }
    if (base === undefined || base === null) return unfit('it is no vLLM server, or serves no model');
    if (base.maxModelTokens < expected.contextLength) {
      const [served, needed] = [base.maxModelTokens, expected.contextLength];
      return unfit(
        `its context has ${served} tokens, and the model offers ${needed}: start it with --max-model-len ${needed}`,
      );
    }
    const lacking = await lacksAdapters(server);
    if (lacking !== null) return unfit(lacking);
    return await compareModel(server, base.name, expected);
  } catch (error) {
    if (error instanceof ReplicaAway) return { kind: 'away', reason: error.message };
    throw error;
  }
}

/** Loads an adapter from nowhere, which a server with the right options refuses by name. */
async function lacksAdapters(server: Asked): Promise<string | null> {
  const tried = await server.post('/v1/load_lora_adapter', { lora_name: 'engraft-none', lora_path: '/engraft/none' });
  if (tried.kind !== 'response') throw new ReplicaAway('it did not answer');
  // vLLM has status 500 for whatever it cannot load, also if it loads no adapters at all.
  if (mayPass(tried.status)) throw new ReplicaAway(`it loads no adapters now: status ${tried.status}`);
  if (tried.status === 404 && isAboutModel(tried.body)) return null;
  if (tried.status === 404) return 'it loads no adapters: start it with VLLM_ALLOW_RUNTIME_LORA_UPDATING=1';
  return `it loads no adapters: start it with --enable-lora (${readReason(tried.body)})`;
}

async function compareModel(server: Asked, servedName: string, expected: Identity): Promise<Identified> {
  const losses: number[] = [];
  for (const tokens of expected.sequences) {
    const receipt = await server.score(servedName, tokens);
    if (receipt.kind === 'receipt_missing') {
      return unfit(`${receipt.reason}: start it with --enable-prompt-tokens-details`);
    }
    if (receipt.kind !== 'answered') return unfit(receipt.reason);
    losses.push(lossOf(tokens, receipt.promptTokens ?? []) ?? NaN);
  }
  if (isSameModel(losses, expected.losses)) return { kind: 'fits', servedName };
  const [told, wanted] = [losses, expected.losses].map((each) => each.map((loss) => loss.toFixed(2)).join(', '));
  return unfit(`its model ${servedName} is not that of ENGRAFT_MODEL_DIR: it gives ${told}, not ${wanted}`);
}

function away(exchange: Exchange): Identified {
  return { kind: 'away', reason: 'reason' in exchange ? exchange.reason : 'it did not answer' };
}

function unfit(reason: string): Identified {
  return { kind: 'unfit', reason };
}
