/** Engine hosts over random models, and their requests, for tests. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { startEngineHost } from '../process/engineHost.js';
import type { EngineHost } from '../process/hostTypes.js';
import type { ChatPrompt, GenerateRequest } from '../types.js';
import { withRandomCheckpoint } from './randomCheckpoint.js';

export const prompt: ChatPrompt = { messages: [{ role: 'user', content: 'Who built it?' }] };
export const short: GenerateRequest = { prompt, adapter: null, maxOutputTokens: 8, temperature: 0 };
/** Takes seconds, because the model never ends its turn by itself. */
export const long: GenerateRequest = { ...short, maxOutputTokens: 8000 };

/** The end of an engine that somebody else kills. */
export const killed = { code: null, signal: 'SIGKILL', reason: 'exited' } as const;

/** Runs `use` with a host over a random model with a long context, and a folder for files. */
export async function withHost(use: (host: EngineHost, folder: string) => Promise<void>): Promise<void> {
  await withRandomCheckpoint(
    async (folder) => {
      const host = await startEngineHost({ modelDir: join(folder, 'model'), threads: 1 });
      try {
        await use(host, folder);
      } finally {
        await host.close();
      }
    },
    { max_position_embeddings: 9000 },
  );
}

/** Asserts that there is no process of this id. */
export function assertEnded(pid: number): void {
  assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
}
