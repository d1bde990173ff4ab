import { z } from 'zod';
import { identifier } from '../identifiers.js';
import { job, jobKind, jobPhase, jobStatus } from '../resources.js';
import { oneLine } from '../text.js';

/** Jobs in `/console/api/projects/{project}`: requests and their answers. */

const timestamp = z.iso.datetime();
const microusd = z.int();
const tokens = z.int().nonnegative();

/** Parameters of a query are texts. */
export const consoleJobQuery = z.strictObject({
  kind: jobKind.optional(),
  status: jobStatus.optional(),
  subject: identifier.optional(),
  cursor: z.string().max(64).optional(),
});
export const consoleJobItem = z.object({
  id: z.string(),
  tenant_id: z.string().nullable(),
  subject_id: z.string(),
  kind: jobKind,
  status: jobStatus,
  phase: jobPhase,
  reserved_microusd: microusd,
  charged_microusd: microusd,
  settled: z.boolean(),
  created_at: timestamp,
  updated_at: timestamp,
});
export const consoleJobList = z.object({ data: z.array(consoleJobItem), next_cursor: z.string().nullable() });

/** The text is `null` where replies may be sentences of the passage, which is not kept. */
const heldOutReply = z.object({ text: z.string().nullable(), is_right: z.boolean() });

/** The course of a learning. The questions come with the end of the job, and all of it is deleted with its data. */
export const learningTrace = z.object({
  /** Each is the mean of the losses since the one before. */
  loss: z.array(z.object({ step: z.int().positive(), loss: z.number() })),
  /** Held-out questions with the expected answer, and the replies of the parent and the candidate. */
  questions: z.array(
    z.object({ question: z.string(), answer: z.string(), parent: heldOutReply, candidate: heldOutReply }),
  ),
});

/** A job as the API shows it, with what the API does not show. */
export const consoleJob = z.object({
  job,
  submitted_by: z.string(),
  training_steps: z.int(),
  phases: z.array(
    z.object({
      phase: z.string(),
      finished_at: timestamp,
      usage: z.object({
        input_tokens: tokens,
        output_tokens: tokens,
        cached_input_tokens: tokens,
        training_tokens: tokens,
      }),
    }),
  ),
  /** The rates of the price card that was fixed at admission. */
  rates: z.object({
    input_nanousd_per_token: z.int(),
    output_nanousd_per_token: z.int(),
    cached_input_nanousd_per_token: z.int(),
    training_nanousd_per_token: z.int(),
  }),
  trace: learningTrace.nullable(),
});

const reason = z
  .string()
  .trim()
  .min(1, 'say why, for the audit log')
  .max(500, 'at most 500 characters')
  .regex(oneLine, 'one line of text, without control characters');
/** An operator's finding about a job whose cost nobody knows. */
export const resolutionRequest = z.strictObject({
  charged_microusd: z.int('a whole number of micro-USD').min(0, 'at least 0'),
  reason,
});
/** Credit that an operator gives. */
export const grantRequest = z.strictObject({
  amount_microusd: z.int('a whole number of micro-USD').min(1, 'more than 0'),
  reason,
});

export type ConsoleJobQuery = z.infer<typeof consoleJobQuery>;
export type ConsoleJobItem = z.infer<typeof consoleJobItem>;
export type ConsoleJobList = z.infer<typeof consoleJobList>;
export type ConsoleJob = z.infer<typeof consoleJob>;
export type LearningTrace = z.infer<typeof learningTrace>;
export type HeldOutReply = z.infer<typeof heldOutReply>;
export type ResolutionRequest = z.input<typeof resolutionRequest>;
export type GrantRequest = z.input<typeof grantRequest>;
