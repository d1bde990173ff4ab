import { isSendableCall, type InferenceResult, type JobErrorCode, type TokenUsage } from '@engraft/contract';
import type { GenerateResult, GenerateUsage } from '@engraft/engine';
import { chatPromptOf, engineToolChoiceOf } from '../jobs/chatPrompt.js';
import type { ClaimedJob } from '../jobs/claimJob.js';
import { completeInference, type InferenceCompletion } from '../jobs/completeInference.js';
import { failJob } from '../jobs/failJob.js';
import type { InferenceJobRequest } from '../jobs/jobRequest.js';
import { recordPhase } from '../jobs/recordPhase.js';
import { clearMark, isAdapterDamaged, noteDamage } from './damagedAdapter.js';
import { withEngineRetries } from './engineRetries.js';
import { findAdapter, type UsableAdapter } from './findAdapter.js';
import { assertHeld, baseModelHash, seedOf, type JobContext, type RunReport } from './jobContext.js';
import type { JobObservation } from './jobObservation.js';

/** generating → validating → settling. Rejects with `EngineError` when the engine fails, and with `LeaseLost`. */
export async function runInference(
  context: JobContext,
  observation: JobObservation,
  job: ClaimedJob,
  request: InferenceJobRequest,
  signal: AbortSignal,
): Promise<RunReport> {
  const { db, store } = context;
  const found = await findAdapter(db, store, job.adapter_version, () => baseModelHash(context, signal), signal);
  if (found.kind !== 'found') {
    assertHeld(await failJob(db, job, found.kind));
    return { status: 'failed', error_code: found.kind };
  }
  try {
    return await answer(context, observation, job, request, found, signal);
  } finally {
    found.giveBack();
  }
}

async function answer(
  context: JobContext,
  observation: JobObservation,
  job: ClaimedJob,
  request: InferenceJobRequest,
  found: UsableAdapter,
  signal: AbortSignal,
): Promise<RunReport> {
  const { db, engine, store, logger } = context;
  const generate = (): Promise<GenerateResult> =>
    engine.generate(
      {
        prompt: chatPromptOf(request),
        adapter: found.adapter,
        maxOutputTokens: request.max_output_tokens,
        temperature: request.temperature,
        seed: seedOf(job.job_id),
        toolChoice: engineToolChoiceOf(request),
        parallelToolCalls: request.parallel_tool_calls,
        isolationKey: isolationKeyOf(job),
      },
      { signal },
    );
  let generated: GenerateResult;
  try {
    generated = await withEngineRetries(generate, signal, logger).catch(async (error: unknown) => {
      // The copy of it on this machine may have been damaged, and is whole again then.
      const { adapter } = found;
      if (adapter === null || !isAdapterDamaged(error)) throw error;
      if (!(await store.isIntact(adapter.contentHash, signal))) throw error;
      return withEngineRetries(generate, signal, logger);
    });
  } catch (error) {
    if (found.adapter === null || !isAdapterDamaged(error)) throw error;
    await noteDamage(context, job.adapter_version, found.adapter);
    assertHeld(await failJob(db, job, 'adapter_damaged'));
    return { status: 'failed', error_code: 'adapter_damaged' };
  }
  await clearMark(context, found, signal);
  // Other answers are always valid. A phase of microseconds is not worth a write.
  if (needsValidation(request)) assertHeld(await recordPhase(db, job, 'validating'));
  const completion = validate(generated, request);
  assertHeld(await completeInference(db, job, completion));
  observation.work.stored('generating', completion.usage);
  observation.charged(completion.usage);
  return completion.kind === 'succeeded'
    ? { status: 'succeeded' }
    : { status: 'failed', error_code: completion.error_code };
}

/** Attention state is reused within a project and tenant, never across them. The engine itself keeps adapters apart. */
function isolationKeyOf({ project_id, tenant_id }: ClaimedJob): string {
  return JSON.stringify(['inference', project_id, tenant_id]);
}

function needsValidation({ response_format, tools }: InferenceJobRequest): boolean {
  return response_format.type === 'json_object' || tools.length > 0;
}

/**
 * "JSON is validated after generation, not constrained; invalid JSON yields a failed job with consumed tokens charged."
 */
function validate(generated: GenerateResult, request: InferenceJobRequest): InferenceCompletion {
  const measured = {
    usage: toTokenUsage(generated.usage),
    reasoning_tokens: generated.usage.reasoningTokens,
  };
  const unusable = (errorCode: JobErrorCode): InferenceCompletion => ({
    ...measured,
    kind: 'unusable',
    error_code: errorCode,
  });
  if (generated.invalidToolCall !== undefined) return unusable('invalid_tool_call');
  const isAnswer = generated.toolCalls.length === 0;
  if (isAnswer && request.response_format.type === 'json_object' && !isJsonObject(generated.text)) {
    return unusable('invalid_json_output');
  }
  const result = toResult(generated);
  // The caller could not send them back with their results.
  if (!(result.tool_calls ?? []).every(isSendableCall)) return unusable('invalid_tool_call');
  return { ...measured, kind: 'succeeded', result };
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function toResult({ text, finishReason, toolCalls }: GenerateResult): InferenceResult {
  const result = { text, finish_reason: finishReason };
  if (toolCalls.length === 0) return result;
  const calls = toolCalls.map(({ id, name, arguments: textOfArguments }) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: textOfArguments },
  }));
  return { ...result, tool_calls: calls };
}

function toTokenUsage(usage: GenerateUsage): TokenUsage {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cached_input_tokens: usage.cachedInputTokens,
    training_tokens: 0,
  };
}
