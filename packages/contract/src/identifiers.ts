import { z } from 'zod';
import { limits } from './limits.js';
import { textOfUnits } from './text.js';

/** `subject_id`, `tenant_id`, `adapter_version` and the header `X-Service-Tenant`. */
export const identifierPattern = /^[a-zA-Z0-9][a-zA-Z0-9_.:-]{0,127}$/;
/** The header `Idempotency-Key`. */
export const idempotencyKeyPattern = /^[a-zA-Z0-9][a-zA-Z0-9_.:-]{7,127}$/;
/** A message's `name` and a tool function's `name`. */
export const functionNamePattern = /^[a-zA-Z0-9_-]{1,64}$/;

export const identifier = z
  .string()
  .regex(identifierPattern, '1-128 characters: letters, digits and _ . : - , starting with a letter or digit');
export const idempotencyKey = z
  .string()
  .regex(idempotencyKeyPattern, '8-128 characters: letters, digits and _ . : - , starting with a letter or digit');
export const functionName = z.string().regex(functionNamePattern, '1-64 characters: letters, digits, _ and -');
export const toolCallId = textOfUnits(1, limits.maxToolCallIdUnits);

/** The `adapter_version` that selects the clean base model. */
export const baseVersion = 'base';

/**
 * The tenant namespace that a header, body field or key names. `null` is the project namespace, a tenant of its own.
 */
export type TenantId = string | null;
