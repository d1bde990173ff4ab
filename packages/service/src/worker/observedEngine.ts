import type { TokenUsage } from '@engraft/contract';
import {
  EngineError,
  type Engine,
  type GenerateResult,
  type ScoreRequest,
  type TokenSequence,
  type TrainingSession,
} from '@engraft/engine';
import type { SpanAttributes } from '../tracing/tracing.js';
import { NoTrainingProcess } from './noTrainingProcess.js';
import { noTokens } from './tokenCounts.js';

/** Observes the calls of one job. */
export interface EngineObserver {
  /** A call began. The returned object is told when it has ended. */
  begun(name: EngineCallName): EngineCall;
  /** Tokens went through the model. */
  done(usage: TokenUsage): void;
  /** The engine's process was lost with a call, which its caller makes again. */
  lost(): void;
}

export type EngineCallName = 'generate' | 'score' | 'train';

export interface EngineCall {
  succeeded(attributes: SpanAttributes): void;
  failed(error: unknown): void;
}

/**
 * The same engine for one job, with its calls observed. A training is one call, from its opening to its end. If it has
 * no process, `openTraining` rejects with `NoTrainingProcess`.
 */
export function observedEngine(engine: Engine, observer: EngineObserver): Engine {
  const observe = async <Result>(work: () => Promise<Result>, usageOf: (result: Result) => TokenUsage) => {
    try {
      const result = await work();
      observer.done(usageOf(result));
      return result;
    } catch (error) {
      if (error instanceof EngineError && error.repeatable) observer.lost();
      throw error;
    }
  };
  const named = async <Result>(
    name: EngineCallName,
    work: () => Promise<Result>,
    describe: (result: Result) => SpanAttributes,
  ): Promise<Result> => {
    const call = observer.begun(name);
    try {
      const result = await work();
      call.succeeded(describe(result));
      return result;
    } catch (error) {
      call.failed(error);
      throw error;
    }
  };
  return {
    describe: () => engine.describe(),
    countTokens: (prompt) => engine.countTokens(prompt),
    encode: (prompt, completion, options) => engine.encode(prompt, completion, options),
    generate: (request, options) =>
      named('generate', () => observe(() => engine.generate(request, options), usageOfGeneration), describeGeneration),
    score: (request, options) => {
      const usage = { ...noTokens, input_tokens: lengthOf(request.sequences) };
      const describe = (): SpanAttributes => describeScoring(request, usage);
      return named(
        'score',
        () =>
          observe(
            () => engine.score(request, options),
            () => usage,
          ),
        describe,
      );
    },
    forgetPrefixes: (isolationKey) => engine.forgetPrefixes(isolationKey),
    openTraining: async (options) => {
      const call = observer.begun('train');
      try {
        // The texts whose directions are protected go through the model once, when the session opens.
        const usage = { ...noTokens, input_tokens: lengthOf(options.protectedDirections ?? []) };
        const session = await observe(
          () => engine.openTraining(options),
          () => usage,
        );
        return observedSession(session, observe, call);
      } catch (error) {
        call.failed(error);
        throw error instanceof EngineError && error.code === 'not_running' ? new NoTrainingProcess(error) : error;
      }
    },
    close: () => engine.close(),
  };
}

type Observe = <Result>(work: () => Promise<Result>, usageOf: (result: Result) => TokenUsage) => Promise<Result>;

function observedSession(session: TrainingSession, observe: Observe, call: EngineCall): TrainingSession {
  let steps = 0;
  let trainingTokens = 0;
  let failure: { readonly error: unknown } | null = null;
  const noting = async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      return await work;
    } catch (error) {
      failure ??= { error };
      throw error;
    }
  };
  return {
    step: async (batch, learningRate, options) => {
      const step = observe(
        () => session.step(batch, learningRate, options),
        ({ tokens }) => ({ ...noTokens, training_tokens: tokens }),
      );
      const result = await noting(step);
      steps += 1;
      trainingTokens += result.tokens;
      return result;
    },
    evaluate: (batch, options) =>
      noting(
        observe(
          () => session.evaluate(batch, options),
          ({ tokens }) => ({ ...noTokens, input_tokens: tokens }),
        ),
      ),
    save: (folder, precision) => noting(session.save(folder, precision)),
    snapshot: (folder) => session.snapshot(folder),
    close: async () => {
      if (failure === null)
        call.succeeded({ 'engraft.training.steps': steps, 'engraft.training.tokens': trainingTokens });
      else call.failed(failure.error);
      await session.close();
    },
  };
}

function usageOfGeneration({ usage }: GenerateResult): TokenUsage {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cached_input_tokens: usage.cachedInputTokens,
    training_tokens: 0,
  };
}

/** Uses the names of OpenTelemetry's conventions for generative models, where they have one. */
function describeGeneration({ usage, finishReason }: GenerateResult): SpanAttributes {
  return {
    'gen_ai.usage.input_tokens': usage.inputTokens,
    'gen_ai.usage.output_tokens': usage.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cachedInputTokens,
    'gen_ai.response.finish_reasons': [finishReason],
  };
}

function describeScoring({ sequences }: ScoreRequest, { input_tokens }: TokenUsage): SpanAttributes {
  return { 'engraft.score.sequences': sequences.length, 'gen_ai.usage.input_tokens': input_tokens };
}

function lengthOf(sequences: readonly TokenSequence[]): number {
  return sequences.reduce((sum, { tokens }) => sum + tokens.length, 0);
}
