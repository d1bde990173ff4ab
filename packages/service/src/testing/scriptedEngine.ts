import type { Engine, GenerateRequest, GenerateResult, ModelDescription } from '@engraft/engine';

/** The part of the reply that a test gives. The rest is that of a short answer. */
export type ScriptedReply = Partial<GenerateResult> | Promise<Partial<GenerateResult>>;

/**
 * A fault injector: an engine that answers as a test says instead of a model, with tool calls, reasoning and silences
 * that no small model produces on demand. It can do nothing but answer.
 */
export function scriptedEngine(reply: (request: GenerateRequest) => ScriptedReply): Engine {
  const unable = (): Promise<never> => Promise.reject(new Error('a scripted engine only answers'));
  return {
    generate: async (request, { signal } = {}) => {
      const cancelled = new Promise<never>((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      });
      return { ...shortAnswer, ...(await Promise.race([reply(request), cancelled])) };
    },
    describe: () => Promise.resolve(nothingMuch),
    countTokens: unable,
    encode: unable,
    score: unable,
    openTraining: unable,
    forgetPrefixes: unable,
    close: () => Promise.resolve(),
  };
}

const nothingMuch: ModelDescription = {
  architecture: 'ScriptedForCausalLM',
  contextLength: 4096,
  vocabularySize: 1,
  parameters: 0,
  contentHash: `sha256:${'0'.repeat(64)}`,
};

const shortAnswer: GenerateResult = {
  text: 'An answer.',
  finishReason: 'stop',
  toolCalls: [],
  usage: { inputTokens: 9, outputTokens: 3, cachedInputTokens: 0, reasoningTokens: 0 },
};
