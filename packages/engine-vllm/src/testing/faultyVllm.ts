import { access } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { hashAdapterFolder, type AdapterReference, type Engine } from '@engraft/engine';
import { z } from 'zod';

export interface SeenRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Answers a request otherwise and returns true, or leaves it to the usual answer. */
export type Fault = (response: http.ServerResponse, request: SeenRequest) => boolean;

export interface FaultyVllm {
  readonly url: string;
  /** All but questions about health and models. */
  readonly requests: SeenRequest[];
  /** Folders of loaded adapters, by name. */
  readonly loaded: Map<string, string>;
  fault: Fault;
  /** Changes the usual answer to a completion. */
  distort: (answer: Answer) => unknown;
  /** Connections that were closed before their answer. */
  readonly closed: () => number;
  stop(): Promise<void>;
}

export interface Answer {
  readonly choices: readonly [Readonly<Record<string, unknown>>];
  readonly usage: Readonly<Record<string, unknown>>;
}

const completionBody = z.object({
  model: z.string(),
  prompt: z.array(z.int()),
  max_tokens: z.int().min(1),
  stop_token_ids: z.array(z.int()).default([]),
  logit_bias: z.record(z.string(), z.number()).default({}),
  prompt_logprobs: z.int().optional(),
});
type CompletionBody = z.output<typeof completionBody>;

const alternatives = 64;

/**
 * A fault injector: a server that answers as vLLM 0.32.0 does until a test says otherwise. Its numbers are those of the
 * embedded engine, so that whatever is right here is right with a real server. It draws the most probable token.
 */
export async function startFaultyVllm(engine: Engine, contextLength: number): Promise<FaultyVllm> {
  const requests: SeenRequest[] = [];
  const loaded = new Map<string, string>();
  let closed = 0;
  const server = http.createServer((message, response) => {
    response.once('close', () => (closed += response.writableFinished ? 0 : 1));
    // A caller that dies within its request has asked for nothing.
    void text(message).then(
      async (body) => {
        const path = message.url ?? '';
        const request = { path, body: body === '' ? {} : (JSON.parse(body) as SeenRequest['body']) };
        if (message.method === 'POST') requests.push(request);
        if (faulty.fault(response, request)) return;
        const [status, answer] = await answerTo(request);
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
      },
      () => response.destroy(),
    );
  });
  const answerTo = async ({ path, body }: SeenRequest): Promise<readonly [number, unknown]> => {
    if (path === '/health') return [200, null];
    if (path === '/v1/models') return [200, modelsOf(loaded, contextLength)];
    const { lora_name: name, lora_path: folder } = body;
    if (path === '/v1/load_lora_adapter') return load(loaded, String(name), String(folder));
    if (path === '/v1/unload_lora_adapter') return loaded.delete(String(name)) ? [200, 'removed'] : notFound(name);
    const asked = completionBody.parse(body);
    const adapterFolder = loaded.get(asked.model);
    if (asked.model !== 'served' && adapterFolder === undefined) return notFound(asked.model);
    return [200, faulty.distort(await complete(engine, asked, await adapterIn(adapterFolder)))];
  };
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const faulty: FaultyVllm = {
    url: `http://127.0.0.1:${port}`,
    requests,
    loaded,
    fault: () => false,
    distort: (answer) => answer,
    closed: () => closed,
    stop: async () => {
      const stopped = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await stopped;
    },
  };
  return faulty;
}

function modelsOf(loaded: ReadonlyMap<string, string>, contextLength: number): unknown {
  const base = { id: 'served', root: '/models/base', parent: null, max_model_len: contextLength };
  return { data: [base, ...[...loaded].map(([id, root]) => ({ id, root, parent: 'served' }))] };
}

async function load(loaded: Map<string, string>, name: string, folder: string): Promise<readonly [number, unknown]> {
  if (loaded.has(name)) return [400, { error: { message: `The lora adapter '${name}' has already been loaded.` } }];
  const isThere = await access(folder).then(
    () => true,
    () => false,
  );
  if (!isThere) return notFound(folder);
  loaded.set(name, folder);
  return [200, 'added'];
}

function notFound(what: unknown): readonly [number, unknown] {
  return [404, { error: { message: `${String(what)} does not exist.`, type: 'NotFoundError' } }];
}

async function adapterIn(folder: string | undefined): Promise<AdapterReference | null> {
  if (folder === undefined) return null;
  return { folder, contentHash: (await hashAdapterFolder(folder)) ?? '' };
}

async function complete(engine: Engine, asked: CompletionBody, adapter: AdapterReference | null): Promise<Answer> {
  const { prompt, prompt_logprobs: topK } = asked;
  const places = topK === undefined ? null : await placesOf(engine, prompt, adapter, topK);
  const tokens = topK === undefined ? await write(engine, asked, adapter) : [0];
  const ended = asked.stop_token_ids.includes(tokens.at(-1) ?? -1) ? 'stop' : 'length';
  return {
    choices: [{ finish_reason: ended, token_ids: tokens, prompt_logprobs: places }],
    usage: {
      prompt_tokens: prompt.length,
      completion_tokens: tokens.length,
      total_tokens: prompt.length + tokens.length,
      prompt_tokens_details: { cached_tokens: 0 },
    },
  };
}

async function placesOf(engine: Engine, tokens: readonly number[], adapter: AdapterReference | null, topK: number) {
  const [score] = await engine.score({ sequences: [{ tokens, targetStart: 1 }], adapter, topK: Math.max(1, topK) });
  const places = (score?.topK ?? []).map(({ ids, logprobs }, target) => {
    const own = tokens[target + 1] ?? 0;
    const rank = ids.indexOf(own) + 1;
    const top = ids.slice(0, topK).map((id, index) => [id, { logprob: logprobs[index], rank: index + 1 }]);
    const entry = [own, { logprob: score?.logprobs[target], rank: rank === 0 ? alternatives : rank }];
    return Object.fromEntries([...top, entry]) as unknown;
  });
  return [null, ...places];
}

async function write(engine: Engine, asked: CompletionBody, adapter: AdapterReference | null): Promise<number[]> {
  const written: number[] = [];
  while (written.length < asked.max_tokens && !asked.stop_token_ids.includes(written.at(-1) ?? -1)) {
    const tokens = [...asked.prompt, ...written, 0];
    const sequences = [{ tokens, targetStart: tokens.length - 1 }];
    const [score] = await engine.score({ sequences, adapter, topK: alternatives });
    const next = score?.topK[0]?.ids.find((id) => asked.logit_bias[String(id)] === undefined);
    written.push(next ?? 0);
  }
  return written;
}
