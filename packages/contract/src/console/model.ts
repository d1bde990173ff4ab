import { z } from 'zod';
import { internalizationRequest } from '../requests.js';

/** The model in use and the installation: what `/console/api` answers about them. */

/** Memory follows from the model's shape; `machine_bytes` is what there is. */
export const modelDescription = z.object({
  /** For people: a hub's name, or that of the folder. */
  name: z.string(),
  architecture: z.string(),
  parameters: z.int(),
  context_tokens: z.int(),
  weights: z.string(),
  /**
   * `english`: its rules. `model`: the model teaches itself. `both`: both of them. `elsewhere`: `teacher_model` on
   * another server.
   */
  teacher: z.enum(['english', 'model', 'both', 'elsewhere']),
  teacher_model: z.string().nullable(),
  serving_bytes: z.number(),
  learning_bytes: z.number(),
  machine_bytes: z.number(),
});

/** `model` is `null` if the service has none, or model work is switched off: `missing` then says why. */
export const consoleModel = z.object({
  model_id: z.string(),
  model: modelDescription.nullable(),
  missing: z.string().nullable(),
});

export const modelSpeeds = z.object({
  answer_tokens_per_second: z.number(),
  /** `null` with a teacher elsewhere. */
  seconds_per_1000_chars: z.number().nullable(),
  measured_at: z.iso.datetime(),
});
/** `null` if the process that answers has no engine. */
export const consoleSpeeds = z.object({ speeds: modelSpeeds.nullable() });

export const estimateRequest = z.strictObject({ content: internalizationRequest.shape.content });
/** The charge and time to expect if the subject knows nothing yet. `seconds` is `null` without an engine. */
const expectedCharge = z.object({ charged_microusd: z.int(), seconds: z.number().nullable() });
/**
 * `with_sentences` holds if the teacher asks poorly about the passage, which is then answered with its sentences. It is
 * `null` where answers are alike for all passages.
 */
export const learningEstimate = expectedCharge.extend({ with_sentences: expectedCharge.nullable() });
/** `null`: nobody can say. */
export const consoleEstimate = z.object({ estimate: learningEstimate.nullable() });

/** The findings of `engraft doctor`. */
export const consoleFindings = z.object({
  findings: z.array(z.object({ name: z.string(), ok: z.boolean(), detail: z.string() })),
});

export type ModelDescription = z.infer<typeof modelDescription>;
export type ConsoleModel = z.infer<typeof consoleModel>;
export type ModelSpeeds = z.infer<typeof modelSpeeds>;
export type ConsoleSpeeds = z.infer<typeof consoleSpeeds>;
export type ExpectedCharge = z.infer<typeof expectedCharge>;
export type LearningEstimate = z.infer<typeof learningEstimate>;
export type ConsoleEstimate = z.infer<typeof consoleEstimate>;
export type ConsoleFindings = z.infer<typeof consoleFindings>;
