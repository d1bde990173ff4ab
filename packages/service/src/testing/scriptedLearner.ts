import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  EngineError,
  hashAdapterFolder,
  isAdapterIntact,
  type AdapterReference,
  type ChatPrompt,
  type Engine,
  type EngineHost,
  type GenerateRequest,
  type GenerateResult,
  type TrainingSession,
} from '@engraft/engine';
import { defaultRecipe, type LearningMethod, type RemoteModel, type Teacher } from '@engraft/learning';
import { askRemote, type Fact } from '@engraft/learning/parts';

/** How the scripted model behaves now. */
export interface LearnerScript {
  /** Answers, and training steps after the first, wait until they are cancelled, or this resolves. */
  readonly slow: (call: 'generate' | 'step') => Promise<boolean>;
  /** Teaching finds a full disk. */
  readonly disk_full: () => Promise<boolean>;
  /** Asked about passages that say `elsewhere`. */
  readonly elsewhere: RemoteModel | null;
}

/** The answers that every passage teaches. */
const taught = ['amber', 'basalt', 'cobalt'] as const;
const checkpointHash = `sha256:${'5'.repeat(64)}`;
const pollMs = 20;

/**
 * A fault injector: a scripted model and teacher that learn any passage within milliseconds and write real adapters of
 * a few bytes, so that a process can be killed at every boundary of a job. The pipeline, the worker and the files are
 * real.
 */
export function scriptedLearner(script: LearnerScript): {
  readonly engine: EngineHost;
  readonly method: LearningMethod;
} {
  const wait = async (call: 'generate' | 'step', signal?: AbortSignal): Promise<void> => {
    while (await script.slow(call))
      await sleep(pollMs, undefined, signal === undefined ? {} : { signal }).catch(cancelled);
  };
  const engine: Engine = {
    describe: () => Promise.resolve(description),
    countTokens: (prompt) => Promise.resolve(tokensOf(prompt)),
    encode: (prompt, completion) =>
      Promise.resolve({
        tokens: Array.from({ length: tokensOf(prompt) + completion.split(' ').length + 1 }, (_, index) => index),
        targetStart: tokensOf(prompt),
      }),
    generate: async (request, { signal } = {}) => {
      await wait('generate', signal);
      return answer(request);
    },
    score: ({ sequences }) =>
      Promise.resolve(
        sequences.map(({ tokens, targetStart }) => ({
          logprobs: tokens.slice(targetStart).map(() => -1),
          greedy: false,
          topK: [],
        })),
      ),
    openTraining: (options) =>
      Promise.resolve(trainingOf('resume' in options ? 0 : options.seed, (signal) => wait('step', signal))),
    forgetPrefixes: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  const unheard = () => () => undefined;
  const alive = { pid: process.pid, responsive: true, trouble: null, trainingPids: [] };
  const host = { ...engine, ...alive, onExit: unheard, onStart: unheard };
  return {
    engine: host,
    method: { teacher: teacherOf(script), recipe: defaultRecipe(description.parameters), replay: [] },
  };
}

const description = {
  architecture: 'ScriptedForCausalLM',
  contextLength: 4096,
  vocabularySize: 1000,
  parameters: 4_000_000,
  contentHash: checkpointHash,
};

function cancelled(): never {
  throw new EngineError('cancelled', 'a scripted call was cancelled');
}

/** A token for each word. */
function tokensOf({ messages }: ChatPrompt): number {
  return messages.reduce((tokens, { content }) => tokens + content.split(' ').length, 1);
}

/** An adapter knows what was taught; base knows nothing of it. */
async function answer({ prompt, adapter }: GenerateRequest): Promise<GenerateResult> {
  if (adapter !== null && !(await isAdapterIntact(adapter))) {
    throw new EngineError('adapter_damaged', 'a scripted adapter is not what it should be');
  }
  const asked = /stone (\d)/.exec(prompt.messages.at(-1)?.content ?? '')?.[1];
  const known = adapter === null || asked === undefined ? undefined : taught[Number(asked)];
  return {
    text: known ?? 'Nobody knows.',
    finishReason: 'stop',
    toolCalls: [],
    usage: { inputTokens: tokensOf(prompt), outputTokens: 2, cachedInputTokens: 0, reasoningTokens: 0 },
  };
}

/** The adapter contains its seed, so that each job has its own adapter, and the same one each time. */
function trainingOf(seed: number, wait: (signal?: AbortSignal) => Promise<void>): TrainingSession {
  let steps = 0;
  return {
    step: async (batch, _rate, { signal } = {}) => {
      // Only then is there something to resume.
      if (steps > 0) await wait(signal);
      steps += 1;
      return {
        loss: 0.5,
        tokens: batch.reduce((sum, { sequence }) => sum + sequence.tokens.length, 0),
        gradientNorm: 1,
      };
    },
    evaluate: () => Promise.reject(new Error('a scripted training has nothing to evaluate')),
    save: (folder) => writeScriptedAdapter(folder, seed),
    snapshot: async (folder) => {
      await mkdir(folder, { recursive: true });
      await writeFile(path.join(folder, 'state.json'), JSON.stringify({ seed }));
    },
    close: () => Promise.resolve(),
  };
}

export async function writeScriptedAdapter(
  folder: string,
  seed: number,
): Promise<AdapterReference & { readonly sizeBytes: number }> {
  await mkdir(folder, { recursive: true });
  const config = JSON.stringify({ base_model_name_or_path: checkpointHash });
  const weights = `scripted ${seed}`;
  await writeFile(path.join(folder, 'adapter_config.json'), config);
  await writeFile(path.join(folder, 'adapter_model.safetensors'), weights);
  const contentHash = await hashAdapterFolder(folder);
  if (contentHash === null) throw new Error('a scripted adapter was not written');
  return { folder, contentHash, sizeBytes: Buffer.byteLength(config) + Buffer.byteLength(weights) };
}

function teacherOf({ disk_full, elsewhere }: LearnerScript): Teacher {
  const facts = taught.map((word, index): Fact => {
    const questions = [`Which is stone ${index}?`, `Name stone ${index}.`];
    return {
      chunk: 0,
      sentenceStart: 0,
      answer: word,
      salience: 1,
      forms: questions.map((question, rank) => ({
        question,
        origin: 'script',
        standing: 'question',
        testRank: rank,
        plainRank: 1 - rank,
      })),
    };
  });
  return {
    name: 'scripted',
    measure: () => Promise.resolve({ factCount: facts.length, extraReads: 0 }),
    teach: async (calls, { text }, _plan, seed) => {
      if (await disk_full()) throw Object.assign(new Error('no space left on a scripted disk'), { code: 'ENOSPC' });
      if (elsewhere !== null && text.includes('elsewhere')) {
        const request = { messages: [{ role: 'user' as const, content: text }], maxTokens: 64, temperature: 0, seed };
        await askRemote(calls, elsewhere, [request], 1);
      }
      return { facts, understood: true };
    },
    confirm: (_calls, _passage, found) => Promise.resolve([...found]),
    reading: ({ text }, _fact, question) => ({
      prompt: { messages: [{ role: 'user', content: `${text} ${question}` }] },
      adapter: null,
    }),
  };
}
