import { z } from 'zod';
import { identifier } from '../identifiers.js';
import { limits } from '../limits.js';
import { internalizationRequest } from '../requests.js';
import { subject } from '../resources.js';
import { scope } from '../scopes.js';
import { lineOfUnits, textOfUnits } from '../text.js';

/** Requests to `/console/api/projects/{project}`, and their answers. */

const timestamp = z.iso.datetime();

/** "30 days, 90 days, one year or none; 90 days preselected." */
export const keyLifetimes = ['30d', '90d', '1y', 'never'] as const;
export const keyName = lineOfUnits(100);
export const newKeyRequest = z.strictObject({
  name: keyName,
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

export type KeyLifetime = (typeof keyLifetimes)[number];
export type NewKeyRequest = z.input<typeof newKeyRequest>;
export type ConsoleKey = z.infer<typeof consoleKey>;
export type ConsoleKeyList = z.infer<typeof consoleKeyList>;
export type CreatedKey = z.infer<typeof createdKey>;
export type ConsoleSubjectList = z.infer<typeof consoleSubjectList>;
export type AskRequest = z.input<typeof askRequest>;
export type LearnRequest = z.input<typeof learnRequest>;
export type ConsoleReceipt = z.infer<typeof consoleReceipt>;
