import { z } from 'zod';
import { identifier } from '../identifiers.js';
import { limits } from '../limits.js';
import { internalizationRequest } from '../requests.js';
import { job, jobKind, jobPhase, jobStatus, subject } from '../resources.js';
import { scope } from '../scopes.js';
import { textOfUnits } from '../text.js';

/** Requests to `/console/api/projects/{project}`, and their answers. */

const timestamp = z.iso.datetime();
const microusd = z.int();
const cursor = z.string().max(64);

/** "30 days, 90 days, one year or none; 90 days preselected." */
export const keyLifetimes = ['30d', '90d', '1y', 'never'] as const;
export const newKeyRequest = z.strictObject({
  name: textOfUnits(1, 100),
  scopes: z.array(scope).min(1, 'choose at least one'),
  tenant_id: identifier.nullable(),
  expires: z.enum(keyLifetimes),
});
export const consoleKey = z.object({
  id: z.string(),
  name: z.string(),
  scopes: z.array(scope),
  tenant_id: z.string().nullable(),
  created_at: timestamp,
  expires_at: timestamp.nullable(),
  revoked_at: timestamp.nullable(),
  last_used_at: timestamp.nullable(),
});
export const consoleKeyList = z.object({ data: z.array(consoleKey) });
/** The only answer that ever contains the secret. */
export const createdKey = z.object({ key: consoleKey, secret: z.string() });

/** Parameters of a query are texts. */
export const consoleJobQuery = z.strictObject({
  kind: jobKind.optional(),
  status: jobStatus.optional(),
  subject: identifier.optional(),
  cursor: cursor.optional(),
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
/** A job as the API shows it, with what the API does not show. */
export const consoleJob = z.object({
  job,
  submitted_by: z.string(),
  training_steps: z.int(),
  phases: z.array(z.object({ phase: z.string(), finished_at: timestamp })),
});

/** A tenant is chosen by its name. Without one, the project's own namespace is used. */
export const consoleSubjectQuery = z.strictObject({ tenant_id: identifier.optional() });
export { activationResult } from '../resources.js';
export const consoleSubjectList = z.object({ data: z.array(subject) });

export const askRequest = z.strictObject({
  subject_id: identifier,
  tenant_id: identifier.optional(),
  adapter_version: identifier.optional(),
  question: textOfUnits(1, limits.maxMessageContentUnits),
});
export const learnRequest = internalizationRequest;
/** The job that was admitted, now or by an identical earlier request. */
export const consoleReceipt = z.object({ id: z.string() });

export const ledgerQuery = z.strictObject({
  cursor: z
    .string()
    .regex(/^\d{1,15}$/, 'it is no next_cursor')
    .optional(),
});
export const ledgerEntry = z.object({
  id: z.int(),
  kind: z.enum(['grant', 'reserve', 'post', 'void', 'hosting', 'refund']),
  amount_microusd: microusd,
  job_id: z.string().nullable(),
  version_id: z.string().nullable(),
  subject_id: z.string().nullable(),
  memo: z.string().nullable(),
  created_at: timestamp,
});
export const consoleCredits = z.object({
  available_microusd: microusd,
  reserved_microusd: microusd,
  spent_microusd: microusd,
  entries: z.array(ledgerEntry),
  next_cursor: z.string().nullable(),
});

export type KeyLifetime = (typeof keyLifetimes)[number];
export type NewKeyRequest = z.input<typeof newKeyRequest>;
export type ConsoleKey = z.infer<typeof consoleKey>;
export type ConsoleKeyList = z.infer<typeof consoleKeyList>;
export type CreatedKey = z.infer<typeof createdKey>;
export type ConsoleJobQuery = z.infer<typeof consoleJobQuery>;
export type ConsoleJobItem = z.infer<typeof consoleJobItem>;
export type ConsoleJobList = z.infer<typeof consoleJobList>;
export type ConsoleJob = z.infer<typeof consoleJob>;
export type ConsoleSubjectList = z.infer<typeof consoleSubjectList>;
export type AskRequest = z.input<typeof askRequest>;
export type LearnRequest = z.input<typeof learnRequest>;
export type ConsoleReceipt = z.infer<typeof consoleReceipt>;
export type LedgerQuery = z.infer<typeof ledgerQuery>;
export type LedgerEntry = z.infer<typeof ledgerEntry>;
export type ConsoleCredits = z.infer<typeof consoleCredits>;
