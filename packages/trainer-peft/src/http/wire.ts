/** Bodies and answers between a trainer and its client. `trainers/peft` has the other end. */
import type { EngineErrorCode, PlainRun, TrainingStart } from '@engraft/engine';
import { z } from 'zod';

const protocol = 1;

const description = z.object({
  trainer: z.literal('peft'),
  protocol: z.literal(protocol),
  model: z.string(),
  busy: z.boolean(),
  processes: z.int().positive(),
  dtype: z.string(),
  max_run_tokens: z.int().positive(),
  max_run_logits: z.int().positive(),
  max_state_bytes: z.int().positive(),
});
export type TrainerDescription = z.output<typeof description>;

const opened = z.object({ id: z.string().regex(/^[0-9a-f]{32}$/), lease_seconds: z.number().positive().max(86_400) });
export type Opened = z.output<typeof opened>;

const isMoment = /^(?:first|second)_moment\./;
const tensor = z.object({ data_offsets: z.tuple([z.int(), z.int()]) });
const steps = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number);
const metadata = z.object({ __metadata__: z.object({ steps }) });

const stepped = z.object({ loss: z.number(), gradient_norm: z.number().min(0), steps: z.int().min(1) });
const evaluated = z.object({ loss: z.number() });

const refusal = z.object({
  error: z.object({
    code: z.enum([
      'invalid_request',
      'adapter_invalid',
      'session_lost',
      'busy',
      'model_differs',
      'too_large',
      'not_finite',
      'memory_exceeded',
      'internal',
    ]),
    message: z.string(),
  }),
});
export type Refusal = z.output<typeof refusal>['error'];

export const readDescription = (body: Uint8Array): TrainerDescription | null => read(description, body);
export const readOpened = (body: Uint8Array): Opened | null => read(opened, body);
export const readStepped = (body: Uint8Array): z.output<typeof stepped> | null => read(stepped, body);
export const readEvaluated = (body: Uint8Array): z.output<typeof evaluated> | null => read(evaluated, body);
export const readRefusal = (body: Uint8Array): Refusal | null => read(refusal, body)?.error ?? null;

/**
 * The engine's code for a refusal. Where the trainer itself fails, another one may not: the work is lost, and nothing
 * is wrong with it.
 */
export function engineCodeOf({ code }: Refusal): EngineErrorCode {
  switch (code) {
    case 'session_lost':
    case 'internal':
      return 'process_lost';
    case 'busy':
    case 'model_differs':
      return 'not_running';
    case 'too_large':
      return 'memory_exceeded';
    case 'invalid_request':
    case 'adapter_invalid':
    case 'memory_exceeded':
      return code;
    // The engine's own code for this.
    case 'not_finite':
      return 'internal';
  }
}

/** The body that opens a session: the state, with the options in its metadata. */
export function openingOf(
  start: TrainingStart,
  model: string,
  protectedTokens: readonly (readonly number[])[],
): Uint8Array {
  const { optimizer, steps, isFresh } = start;
  const session = {
    model,
    adapter_config: JSON.parse(start.adapterConfig) as unknown,
    optimizer: {
      betas: optimizer.betas,
      weight_decay: optimizer.weightDecay,
      // JSON has no infinity.
      clip_norm: optimizer.clipNorm === Infinity ? null : optimizer.clipNorm,
      steps,
    },
    is_fresh: isFresh,
    protected: protectedTokens,
  };
  return withMetadata(start.state, { format: 'pt', session: JSON.stringify(session) });
}

/** The bytes of a state without the optimizer's moments, but for its header. */
export function plainBytesOf(state: Uint8Array): number {
  const moments = Object.entries(headerOf(state).header).filter(([name]) => isMoment.test(name));
  return moments.reduce((bytes, [, entry]) => {
    const [start, end] = tensor.parse(entry).data_offsets;
    return bytes - (end - start);
  }, state.byteLength);
}

/** The steps that have led to a state, as the trainer counts them. `null` if it does not say. */
export function stepsOf(state: Uint8Array): number | null {
  try {
    return metadata.parse(headerOf(state).header).__metadata__.steps;
  } catch {
    return null;
  }
}

export function stepOf(runs: readonly PlainRun[], learningRate: number): Uint8Array {
  return encode({ runs: runs.map(wireRun), learning_rate: learningRate });
}

export function evaluationOf(runs: readonly PlainRun[]): Uint8Array {
  return encode({ runs: runs.map(wireRun) });
}

function wireRun({ targetIds, targetProbabilities, ...run }: PlainRun): unknown {
  return { ...run, target_ids: targetIds, target_probabilities: targetProbabilities };
}

/** The same safetensors with other metadata. The offsets in a header are counted from its end, so they stay. */
export function withMetadata(state: Uint8Array, metadata: Readonly<Record<string, string>>): Uint8Array {
  const { bytes, header, end } = headerOf(state);
  const text = encode({ ...header, __metadata__: metadata });
  const padded = Buffer.alloc(Math.ceil(text.byteLength / 8) * 8, ' ');
  text.copy(padded);
  const prefix = Buffer.alloc(8);
  prefix.writeBigUInt64LE(BigInt(padded.byteLength));
  return Buffer.concat([prefix, padded, bytes.subarray(end)]);
}

function headerOf(state: Uint8Array): { bytes: Buffer; header: Readonly<Record<string, unknown>>; end: number } {
  const bytes = Buffer.from(state.buffer, state.byteOffset, state.byteLength);
  const end = 8 + Number(bytes.readBigUInt64LE(0));
  return { bytes, header: z.record(z.string(), z.unknown()).parse(JSON.parse(bytes.toString('utf8', 8, end))), end };
}

function encode(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value), 'utf8');
}

function read<T>(schema: z.ZodType<T>, body: Uint8Array): T | null {
  try {
    return schema.safeParse(JSON.parse(Buffer.from(body).toString('utf8'))).data ?? null;
  } catch {
    return null;
  }
}
