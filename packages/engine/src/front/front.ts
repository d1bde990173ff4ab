import { readAdapter } from '../adapters/adapterFolder.js';
import { probeSequences, readProbe } from '../adapters/probe.js';
import { openCheckpoint } from '../checkpoint/checkpoint.js';
import { defaultMaxContextLength } from '../checkpoint/contextLength.js';
import { tokenlessIds } from '../output/bannedTokens.js';
import { composeReply, singleCallEnd } from '../output/reply.js';
import { beginTraining, layOutBatch, saveTraining, snapshotTraining } from '../lora/trainingElsewhere.js';
import type { DecoderConfig } from '../model/config.js';
import { prepareGeneration, type PromptModel } from '../scheduling/preparedGeneration.js';
import { sum } from '../support/numbers.js';
import type { ChatTokenizer } from '../tokenizer/chatTokenizer.js';
import type { GenerateRequest } from '../types.js';
import type { FrontMethods, WrittenTokens } from './frontMethods.js';

export type Front = {
  readonly [M in keyof FrontMethods]: (
    ...args: Parameters<FrontMethods[M]>
  ) => ReturnType<FrontMethods[M]> | Promise<ReturnType<FrontMethods[M]>>;
};

/**
 * The part of an engine that does not compute, in the calling thread. See `ModelFront`.
 * @throws EngineError `checkpoint_invalid`
 */
export async function openFront(modelDir: string): Promise<Front> {
  // The weights are in another machine's memory.
  const { config, tokenizer, description } = await openCheckpoint(modelDir, () => 0);
  const contextLength = Math.min(config.contextLength, defaultMaxContextLength);
  const tokenless = tokenlessIds(tokenizer, config.vocabularySize);
  const model: PromptModel = { tokenizer, contextLength, tokenless };
  return {
    describe: () => ({ ...description, contextLength }),
    countTokens: (prompt) => tokenizer.countTokens(prompt),
    encode: (prompt, completion, options) => tokenizer.encodeExample(prompt, completion, options),
    prepare: (request) => prepareGeneration(model, request),
    compose: (request, promptTokens, written) => compose(tokenizer, request, promptTokens, written),
    probeSequences: () => probeSequences({ ...config, contextLength }),
    checkAdapter: async (reference) => {
      await readAdapter(reference, config);
      return readProbe(reference.folder);
    },
    ...trainingFront({ ...config, contextLength }, description.contentHash),
  };
}

type TrainingFront = Pick<Front, 'beginTraining' | 'layOutBatch' | 'saveTraining' | 'snapshotTraining'>;

function trainingFront(config: DecoderConfig, name: string): TrainingFront {
  return {
    beginTraining: (options) => beginTraining(config, name, options),
    layOutBatch: (examples, bounds) => layOutBatch(config, examples, bounds),
    saveTraining: (target, trained) => saveTraining(config, name, target, trained),
    snapshotTraining: (folder, settings, reached) => snapshotTraining(config, name, folder, settings, reached),
  };
}

function compose(
  tokenizer: ChatTokenizer,
  request: GenerateRequest,
  promptTokens: number,
  { tokens: all, ended: endedBy, reusedTokens, logprobs }: WrittenTokens,
): ReturnType<FrontMethods['compose']> {
  const length = endOfSingleCall(tokenizer, request, all);
  const tokens = all.slice(0, length);
  const ended = length < all.length ? 'stop' : endedBy;
  const logprob = sum((logprobs ?? []).slice(0, length));
  return composeReply(tokenizer, request, promptTokens, { tokens, ended, reusedTokens, logprob });
}

/** An engine elsewhere cannot be asked after every token, so it may have gone on after a call that must be the only. */
function endOfSingleCall(tokenizer: ChatTokenizer, request: GenerateRequest, tokens: readonly number[]): number {
  const isComplete = singleCallEnd(tokenizer, request);
  if (isComplete === undefined) return tokens.length;
  const last = tokens.findIndex((_, index) => isComplete(tokens.slice(0, index + 1)));
  return last < 0 ? tokens.length : last + 1;
}
