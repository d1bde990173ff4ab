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
  /** Absent if the candidate was rejected. */
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
  training: z.object({
    steps: z.int(),
    tokens: z.int(),
    final_loss: z.number(),
    /** Present if the parent's files were damaged or missing, and the candidate was trained from base. */
    parent_damaged: z.literal(true).optional(),
    /** Present if the parent belongs to another base model, and the candidate was trained from the current one. */
    parent_base_model_changed: z.literal(true).optional(),
  }),
  /** Present if validation rejected the candidate. */
  rejection: z.object({ reasons: z.array(z.string()), message: z.string() }).optional(),
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

/** "Only these fields." */
export const jobListItem = job.pick({
  id: true,
  kind: true,
  status: true,
  phase: true,
  adapter_version: true,
  created_at: true,
});
/** `next_cursor` is `null` on the last page. */
export const jobList = z.object({ data: z.array(jobListItem), next_cursor: z.string().nullable() });

export const version = z.object({
  id: z.string(),
  created_at: timestamp,
  expires_at: timestamp,
  validation: z.object({ passed: z.int(), total: z.int() }),
  source_job: z.string(),
  /** Present if it was trained on another base model than the service has now. */
  base_model_changed: z.literal(true).optional(),
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

/** Numbers of USD. Charges use the card's own integers of nano-USD. */
export const modelPricing = z.object({
  version: z.string(),
  input_usd_per_million_tokens: z.number(),
  output_usd_per_million_tokens: z.number(),
  cached_input_usd_per_million_tokens: z.number(),
  training_usd_per_million_tokens: z.number(),
  storage_usd_per_gb_month: z.number(),
  internalization_fee_usd: z.number(),
});
export const modelCatalogueEntry = z.object({ id: z.string(), pricing: modelPricing });
export const modelCatalogue = z.object({ data: z.array(modelCatalogueEntry) });

export type Receipt = z.infer<typeof receipt>;
export type JobStatus = z.infer<typeof jobStatus>;
export type JobKind = z.infer<typeof jobKind>;
export type JobPhase = z.infer<typeof jobPhase>;
export type InferenceResult = z.infer<typeof inferenceResult>;
export type LearningResult = z.infer<typeof learningResult>;
export type Job = z.infer<typeof job>;
export type JobListItem = z.infer<typeof jobListItem>;
export type JobList = z.infer<typeof jobList>;
export type ModelPricing = z.infer<typeof modelPricing>;
export type ModelCatalogue = z.infer<typeof modelCatalogue>;
export type Version = z.infer<typeof version>;
export type Subject = z.infer<typeof subject>;
export type SubjectList = z.infer<typeof subjectList>;
export type ActivationResult = z.infer<typeof activationResult>;
