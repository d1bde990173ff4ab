import { z } from 'zod';
import { jobErrorCodes } from './errors.js';
import { wireToolCall } from './requests.js';

/** Response bodies. The same schemas describe what the service sends and what the client reads. */

const timestamp = z.iso.datetime();
const microusd = z.int().nonnegative();
const tokens = z.int().nonnegative();

export const receipt = z.object({ id: z.string(), status_url: z.string() });

export const jobStatuses = [
  'queued',
  'running',
  'succeeded',
  'ready',
  'rejected',
  'failed',
  'reconciliation_required',
] as const;
export const jobStatus = z.enum(jobStatuses);
export const jobKind = z.enum(['inference', 'internalization']);

export const inferencePhases = ['queued', 'generating', 'validating', 'settling', 'done'] as const;
export const learningPhases = [
  'queued',
  'teaching',
  'scoring',
  'training',
  'evaluating',
  'saving',
  'settling',
  'done',
] as const;
export const jobPhase = z.enum([...new Set([...inferencePhases, ...learningPhases])]);

export const inferenceResult = z.object({
  text: z.string(),
  finish_reason: z.enum(['stop', 'length', 'tool_calls']),
  tool_calls: z.array(wireToolCall).optional(),
});

export const learningResult = z.object({
  /** Absent when the candidate was rejected. */
  candidate: z.object({ version_id: z.string() }).optional(),
  validation: z.object({
    passed: z.boolean(),
    passed_count: z.int(),
    total_count: z.int(),
    /** How many of the same questions the parent answered before learning. */
    base_passed_count: z.int(),
    /** Questions of earlier passages of this subject. */
    retention_passed_count: z.int(),
    retention_total_count: z.int(),
  }),
  training: z.object({ steps: z.int(), tokens: z.int(), final_loss: z.number() }),
  activated: z.boolean(),
  activation_conflict: z.boolean(),
});

export const job = z.object({
  id: z.string(),
  tenant_id: z.string().nullable(),
  subject_id: z.string(),
  kind: jobKind,
  status: jobStatus,
  phase: jobPhase,
  adapter_version: z.string(),
  usage: z.object({
    input_tokens: tokens,
    output_tokens: tokens,
    cached_input_tokens: tokens,
    training_tokens: tokens,
  }),
  billing: z.object({
    reserved_microusd: microusd,
    charged_microusd: microusd,
    settled: z.boolean(),
    pricing_version: z.string(),
    compute_microusd: microusd,
    storage_microusd: microusd,
  }),
  result: z.union([learningResult, inferenceResult]).nullable(),
  error: z.object({ code: z.enum(jobErrorCodes), retryable: z.boolean() }).nullable(),
  created_at: timestamp,
  updated_at: timestamp,
});

export const version = z.object({
  id: z.string(),
  created_at: timestamp,
  expires_at: timestamp,
  validation: z.object({ passed: z.int(), total: z.int() }),
  source_job: z.string(),
});

export const subject = z.object({
  tenant_id: z.string().nullable(),
  id: z.string(),
  active_version: z.string().nullable(),
  revision: z.int().nonnegative(),
  versions: z.array(version),
});

export const subjectList = z.object({ data: z.array(subject) });
export const activationResult = z.object({ version_id: z.string(), revision: z.int() });

export type Receipt = z.infer<typeof receipt>;
export type JobStatus = z.infer<typeof jobStatus>;
export type JobKind = z.infer<typeof jobKind>;
export type JobPhase = z.infer<typeof jobPhase>;
export type InferenceResult = z.infer<typeof inferenceResult>;
export type LearningResult = z.infer<typeof learningResult>;
export type Job = z.infer<typeof job>;
export type Version = z.infer<typeof version>;
export type Subject = z.infer<typeof subject>;
export type SubjectList = z.infer<typeof subjectList>;
export type ActivationResult = z.infer<typeof activationResult>;
