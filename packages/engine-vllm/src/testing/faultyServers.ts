import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  EmbeddedEngine,
  openTrainingHost,
  type AdapterReference,
  type GenerateRequest,
  type ServingEngine,
} from '@engraft/engine';
import { openVllmEngine } from '../vllmEngine.js';
import { startFaultyVllm, type FaultyVllm } from './faultyVllm.js';

const modelDir = fileURLToPath(new URL('../../../../models/base', import.meta.url));
const contextLength = 2_048;

export const question = { messages: [{ role: 'user' as const, content: 'Who built the lighthouse?' }] };

export const asking = (adapter: AdapterReference | null, changes: Partial<GenerateRequest> = {}): GenerateRequest => ({
  prompt: question,
  adapter,
  maxOutputTokens: 6,
  temperature: 0,
  ...changes,
});

/** Two fault injectors for the shipped model, and what an engine over them needs. */
export interface FaultyServers {
  readonly folder: string;
  readonly adapterFolder: string;
  readonly embedded: EmbeddedEngine;
  readonly servers: readonly [FaultyVllm, FaultyVllm];
  /** An engine over these servers, by default over both. */
  open(urls?: readonly string[]): Promise<ServingEngine>;
  /** An adapter that answers the question so. */
  train(answer: string): Promise<AdapterReference>;
  onBoth(fault: FaultyVllm['fault']): void;
  /** Without faults, and with no requests seen. */
  reset(): void;
  close(): Promise<void>;
}

export async function startFaultyServers(): Promise<FaultyServers> {
  const folder = await mkdtemp(join(tmpdir(), 'engraft-vllm-'));
  const adapterFolder = join(folder, 'shelf');
  const embedded = await EmbeddedEngine.open({ modelDir, threads: 1 });
  const start = () => startFaultyVllm(embedded, contextLength);
  const servers = [await start(), await start()] as const;
  return {
    folder,
    adapterFolder,
    embedded,
    servers,
    open: (urls = servers.map(({ url }) => url)) =>
      openVllmEngine({
        modelDir,
        urls,
        adapterFolder,
        trainer: openTrainingHost({ modelDir, threads: 1 }),
        limits: { maxNames: 2, healthMs: 20, connectMs: 60_000, healthAnswerMs: 60_000 },
      }),
    train: async (answer) => {
      const session = await embedded.openTraining({ parent: null, rank: 2, alpha: 4, seed: 1 });
      const sequence = await embedded.encode(question, answer);
      for (let step = 0; step < 6; step += 1) await session.step([{ sequence, weight: 1 }], 1e-2);
      const target = join(folder, answer);
      const { contentHash } = await session.save(target);
      await session.close();
      return { folder: target, contentHash };
    },
    onBoth: (fault) => {
      for (const server of servers) server.fault = fault;
    },
    reset: () => {
      for (const server of servers) {
        server.fault = () => false;
        server.distort = (answer) => answer;
        server.requests.length = 0;
      }
    },
    close: async () => {
      await Promise.all(servers.map((server) => server.stop()));
      await embedded.close();
      await rm(folder, { recursive: true });
    },
  };
}
